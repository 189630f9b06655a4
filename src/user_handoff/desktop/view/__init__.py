"""The picture of a virtual desktop for one person elsewhere, and their input under a lease."""

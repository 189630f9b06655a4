"""What happened on a desktop, in a form that an auditor can verify."""

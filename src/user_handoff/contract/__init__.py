"""What crosses a boundary: models, ids, error codes and names."""

"""The browser host: the one process that owns a Chromium and its debugging pipe."""

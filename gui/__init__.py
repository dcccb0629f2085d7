"""The window: Qt views over engine results."""

"""Lambda: functions run in processes of this machine."""

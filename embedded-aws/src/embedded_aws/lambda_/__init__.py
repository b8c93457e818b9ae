"""Lambda: functions run for real, in processes of this machine."""

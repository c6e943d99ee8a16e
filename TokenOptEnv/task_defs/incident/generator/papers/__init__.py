"""What people keep: tickets, chats, lists of changes, runbooks, reports. Layouts differ between train and test."""

"""The Offline player: a table learns, then a network learns to name the table's best actions."""

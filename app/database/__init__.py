"""The database: engine, transactions, column types, keyset pagination, notifications, migrations."""

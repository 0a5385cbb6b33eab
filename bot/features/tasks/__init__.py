"""Tasks by the clock as people meet them: their runs, /tasks, and their buttons."""

"""Being here puts this folder on the import path, so that every test finds `loopback`."""

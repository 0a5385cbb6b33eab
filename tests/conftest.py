"""Being here puts this folder on the import path, so that every test finds `loopback`."""

from hypothesis import settings

settings.register_profile("project", deadline=None)  # machines are noisy: no test here is about time
settings.load_profile("project")

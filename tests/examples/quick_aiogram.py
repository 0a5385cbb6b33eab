"""Run a program that uses aiogram (argv[1]) with only the types ready that it needs: all of them take seconds."""

import runpy
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from loopback.strict import TYPES, method_of

for answer in ("Update", "User", "Message"):
    TYPES[answer].model_rebuild(force=True, _types_namespace=TYPES)
for method in ("getMe", "deleteWebhook", "getUpdates", "sendMessage"):
    method_of(method)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")

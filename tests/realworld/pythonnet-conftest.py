"""pythonnet's tests under the library of Mono's embedding API that MONO_LIBRARY names, with their library compiled beforehand."""

import os
import sys
from pathlib import Path

import pytest
from clr_loader import get_mono

import pythonnet

FIXTURES = Path(__file__).parent / "fixtures"

sys.path += [str(FIXTURES), str(Path(__file__).parent.parent)]
pythonnet.set_runtime(get_mono(libmono=os.environ["MONO_LIBRARY"]))

import clr  # noqa: E402 (the runtime is chosen before)

clr.AddReference("Python.Test")


@pytest.fixture()
def filepath():
    return lambda name: os.path.join(FIXTURES, name)

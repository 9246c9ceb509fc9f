import pytest


@pytest.fixture
def path(tmp_path):
    folder = tmp_path / "models"  # of its own, so that tests can list what is in it
    folder.mkdir()
    return folder / "model.zonal"

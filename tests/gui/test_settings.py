"""What the window remembers, and what it makes of nonsense in the file."""

import pytest
from opscope.gui.settings import RECENT_FILES, Settings
from PySide6.QtCore import QSettings


def test_defaults(settings):
    assert (settings.theme, settings.target, settings.recent_files) == ("system", "", ())
    assert settings.geometry is None


def test_values_survive_a_restart(settings, tmp_path):
    settings.theme = "dark"
    settings.target = "ort-webgpu"
    again = Settings(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))
    assert (again.theme, again.target) == ("dark", "ort-webgpu")
    with pytest.raises(ValueError, match="pink"):
        settings.theme = "pink"


def test_recent_files_newest_first_each_once_and_only_those_that_are_there(settings, tmp_path):
    files = [tmp_path / f"{i}.onnx" for i in range(RECENT_FILES + 2)]
    for file in files:
        file.touch()
        settings.add_recent_file(str(file))
    settings.add_recent_file(str(files[5]))
    recent = settings.recent_files
    assert len(recent) == RECENT_FILES
    assert recent[:2] == (str(files[5]), str(files[-1]))
    files[-1].unlink()
    assert str(files[-1]) not in settings.recent_files


def test_nonsense_reads_as_the_default(app, tmp_path):
    store = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    store.setValue("theme", 7)
    store.setValue("recent_files", 3)
    store.setValue("window/geometry", "x")
    settings = Settings(store)
    assert (settings.theme, settings.recent_files, settings.geometry) == ("system", (), None)

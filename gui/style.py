"""A theme put on: Qt's palette, and a style sheet for what Fusion and a palette leave plain."""

from __future__ import annotations

from string import Template

from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from .colour import mix
from .theme import Theme

_SHEET = Template("""
QMainWindow::separator { background: $border; width: 1px; height: 1px; margin: 2px; }
QMainWindow::separator:hover { background: $accent; }
QToolBar { background: $window; border: none; border-bottom: 1px solid $border;
           padding: 4px 8px; spacing: 4px; }
QToolBar QToolButton { padding: 5px 8px; border-radius: 5px; border: 1px solid transparent; }
QToolBar QToolButton:hover { background: $raised; }
QToolBar QToolButton:pressed, QToolBar QToolButton:checked { background: $chosen; }
QLabel#command { background: $sunken; border: 1px solid $border; border-radius: 4px;
                 padding: 3px 6px; }
QToolBar QLabel { color: $muted; padding-left: 6px; }
QToolBar::separator { background: $border; width: 1px; margin: 5px 6px; }
QTabBar::tab {
    padding: 6px 12px; border: none; border-bottom: 2px solid transparent; color: $muted; }
QTabBar::tab:selected { color: $text; border-bottom: 2px solid $accent; }
QTabBar::tab:hover { color: $text; }
QHeaderView { background: $window; }
QHeaderView::section { background: $window; color: $muted; padding: 4px 3px; border: none;
                       border-bottom: 1px solid $border; }
QHeaderView::up-arrow, QHeaderView::down-arrow { subcontrol-position: top center; width: 8px;
                                                 height: 6px; }
QTableView { background: $surface; alternate-background-color: $sunken; border: none;
             gridline-color: $grid; selection-background-color: $chosen;
             selection-color: $text; }
QPlainTextEdit, QTextEdit { background: $sunken; border: 1px solid $border; border-radius: 5px; }
QScrollArea { border: none; background: $surface; }
QTableView::item { padding: 0px 5px; }
QToolButton#fold { border: none; background: transparent; color: $muted; font-weight: 600;
                   padding: 3px 0px; text-align: left; }
QToolButton#fold:hover { color: $text; }
QToolButton#chip { border: 1px solid $border; border-radius: 10px; padding: 3px 10px;
                   color: $muted; background: $surface; }
QToolButton#chip:checked { background: $chosen; color: $text; border-color: $chosen; }
QToolButton#chip:hover { border-color: $accent; }
QListWidget { background: $surface; border: none; }
QListWidget::indicator { width: 11px; height: 11px; border: 1px solid $muted; border-radius: 3px; }
QListWidget::indicator:checked { background: $accent; border-color: $accent; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QStatusBar { background: $window; color: $muted; border-top: 1px solid $border; }
QStatusBar::item { border: none; }
QToolTip { color: $text; background: $raised; border: 1px solid $border; padding: 4px; }
QPushButton { padding: 5px 12px; border-radius: 5px; border: 1px solid $border;
              background: $surface; }
QPushButton:hover { background: $raised; }
QPushButton:disabled { color: $faint; }
QPushButton[primary="true"] { background: $accent; color: $on_accent; border-color: $accent; }
QPushButton[primary="true"]:hover { background: $accent_hover; }
QPushButton[primary="true"]:disabled { background: $border; color: $faint;
                                       border-color: $border; }
QPushButton[flat_link="true"] { border: none; background: transparent; color: $accent;
                                padding: 2px 4px; text-align: left; }
QPushButton#chooser { padding: 5px 6px; }
QPushButton#chooser:hover { border-color: $accent; background: $surface; }
QPushButton#chooser::menu-indicator { subcontrol-origin: padding; right: 6px;
                                      subcontrol-position: center right; }
QLineEdit { padding: 4px 6px; border: 1px solid $border; border-radius: 5px;
            background: $surface; }
QLineEdit:focus { border-color: $accent; }
QProgressBar { border: none; border-radius: 3px; background: $raised; max-height: 6px;
               min-height: 6px; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }
*[tone="muted"] { color: $muted; }
*[tone="title"] { font-size: 15px; font-weight: 600; }
*[tone="hero"] { font-size: 26px; font-weight: 600; }
*[tone="heading"] { color: $muted; font-weight: 600; }
*[tone="strong"] { font-weight: 600; }
#page, #panel { background: $surface; }
#card { background: $surface; border: 1px solid $border; border-radius: 8px; }
#card:hover { border-color: $accent; background: $sunken; }
#card:focus { border-color: $accent; }
#message { background: $message; border-bottom: 1px solid $message_line; }
#drop { border: 2px dashed $border; border-radius: 10px; background: $sunken; }
""")


def stylesheet(theme: Theme) -> str:
    """The style sheet in the theme's colours."""
    return _SHEET.substitute(
        window=theme.window,
        surface=theme.surface,
        sunken=theme.sunken,
        raised=theme.raised,
        text=theme.text,
        muted=theme.muted,
        faint=theme.faint,
        border=theme.border,
        grid=theme.grid,
        accent=theme.accent,
        on_accent=theme.on_accent,
        accent_hover=mix(theme.accent, theme.text, 0.15),
        chosen=mix(theme.surface, theme.accent, 0.22 if not theme.dark else 0.16),
        message=mix(theme.surface, "#cc3b3f", 0.12),
        message_line=mix(theme.surface, "#cc3b3f", 0.5),
    )


def apply_theme(app: QApplication, theme: Theme) -> None:
    """Put the theme on the application: on Fusion, the style that honours a palette everywhere.

    The sheet is taken off first: to exchange one for another takes Qt three times as long.
    """
    app.setStyleSheet("")
    if app.style().name() != "fusion":
        app.setStyle("Fusion")
    app.setPalette(palette(theme))
    app.setStyleSheet(stylesheet(theme))


def palette(theme: Theme) -> QPalette:
    """Qt's palette for ``theme``."""
    role = QPalette.ColorRole
    made = QPalette()
    for which, colour in {
        role.Window: theme.window,
        role.WindowText: theme.text,
        role.Base: theme.surface,
        role.AlternateBase: theme.sunken,
        role.ToolTipBase: theme.raised,
        role.ToolTipText: theme.text,
        role.Text: theme.text,
        role.PlaceholderText: theme.faint,
        role.Button: theme.window,
        role.ButtonText: theme.text,
        role.BrightText: theme.on_accent,
        role.Link: theme.accent,
        role.LinkVisited: theme.accent,
        role.Highlight: theme.accent,
        role.HighlightedText: theme.on_accent,
        role.Accent: theme.accent,
        role.Light: theme.raised,
        role.Midlight: theme.raised,
        role.Mid: theme.border,
        role.Dark: theme.border,
        role.Shadow: theme.border,
    }.items():
        made.setColor(which, QColor(colour))
    for which in (role.WindowText, role.Text, role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, which, QColor(theme.faint))
    made.setColor(QPalette.ColorGroup.Disabled, role.Highlight, QColor(theme.border))
    return made

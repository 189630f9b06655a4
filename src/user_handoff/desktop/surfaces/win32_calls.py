"""The calls to user32 that win32.py needs. Nothing is decided here; on other systems it holds nothing that works."""

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from user_handoff.desktop.surfaces.win32 import Edges, Raw, Screen

_GW_OWNER = 4
_GWL_STYLE, _GWL_EXSTYLE = -16, -20
_MONITOR_DEFAULTTONEAREST = 2
_MDT_EFFECTIVE_DPI = 0
_PER_MONITOR_AWARE_V2 = -4
_SW_RESTORE = 9


class User32:
    """user32.dll, with the types of what is used of it.

    Raises:
        OSError: This is not Windows.
        AttributeError: This Windows is too old: it lacks a call.
    """

    def __init__(self) -> None:
        if sys.platform != "win32":
            raise OSError("not Windows")
        from ctypes import wintypes

        self._types = wintypes
        self._dll = ctypes.WinDLL("user32", use_last_error=True)
        self._shcore = ctypes.WinDLL("shcore")
        handle, number = wintypes.HWND, ctypes.c_int
        for name, result, arguments in (
            ("GetWindow", handle, (handle, wintypes.UINT)),
            ("GetWindowThreadProcessId", wintypes.DWORD, (handle, ctypes.POINTER(wintypes.DWORD))),
            ("GetClassNameW", number, (handle, wintypes.LPWSTR, number)),
            ("GetWindowLongW", wintypes.LONG, (handle, number)),
            ("IsWindowVisible", wintypes.BOOL, (handle,)),
            ("IsIconic", wintypes.BOOL, (handle,)),
            ("GetWindowRect", wintypes.BOOL, (handle, ctypes.POINTER(wintypes.RECT))),
            ("GetWindowPlacement", wintypes.BOOL, (handle, ctypes.c_void_p)),
            ("GetDpiForWindow", wintypes.UINT, (handle,)),
            ("MonitorFromWindow", wintypes.HMONITOR, (handle, wintypes.DWORD)),
            ("GetMonitorInfoW", wintypes.BOOL, (wintypes.HMONITOR, ctypes.c_void_p)),
            ("GetForegroundWindow", handle, ()),
            ("SetForegroundWindow", wintypes.BOOL, (handle,)),
            ("ShowWindow", wintypes.BOOL, (handle, number)),
            ("SetThreadDpiAwarenessContext", ctypes.c_void_p, (ctypes.c_void_p,)),
        ):
            function = getattr(self._dll, name)
            function.restype, function.argtypes = result, arguments

    if sys.platform == "win32":

        def snapshot(self) -> tuple[list[Raw], list[Screen]]:
            """All top-level windows and all screens, in physical pixels."""
            with self._physical_pixels():
                screens = self._screens()
                order = list(screens)
                windows = [self._read(hwnd, order) for hwnd in self._all()]
            return [window for window in windows if window is not None], list(screens.values())

        def foreground(self) -> int:
            """The foreground window; 0 where there is none."""
            return int(self._dll.GetForegroundWindow() or 0)

        def to_foreground(self, hwnd: int) -> None:
            """Restore it where it is minimised, and ask for the foreground."""
            if self._dll.IsIconic(hwnd):
                self._dll.ShowWindow(hwnd, _SW_RESTORE)
            self._dll.SetForegroundWindow(hwnd)

        @contextmanager
        def _physical_pixels(self) -> Iterator[None]:
            before = self._dll.SetThreadDpiAwarenessContext(ctypes.c_void_p(_PER_MONITOR_AWARE_V2))
            if not before:
                raise OSError("this Windows has no per-monitor DPI awareness")
            try:
                yield
            finally:
                self._dll.SetThreadDpiAwarenessContext(before)

        def _all(self) -> list[int]:
            found: list[int] = []

            def each(hwnd: int, _: int) -> bool:
                found.append(hwnd)
                return True

            kind = ctypes.WINFUNCTYPE(self._types.BOOL, self._types.HWND, self._types.LPARAM)
            self._dll.EnumWindows(kind(each), 0)
            return found

        def _screens(self) -> dict[int, Screen]:
            found: dict[int, Screen] = {}
            types = self._types

            def each(monitor: int, _dc: int, _rect: Any, _data: int) -> bool:
                found[monitor] = self._screen(monitor)
                return True

            kind = ctypes.WINFUNCTYPE(types.BOOL, types.HMONITOR, types.HDC, ctypes.POINTER(types.RECT), types.LPARAM)
            self._dll.EnumDisplayMonitors(None, None, kind(each), 0)
            return found

        def _screen(self, monitor: int) -> Screen:
            class Info(ctypes.Structure):
                _fields_ = (
                    ("size", self._types.DWORD),
                    ("monitor", self._types.RECT),
                    ("work", self._types.RECT),
                    ("flags", self._types.DWORD),
                )

            info = Info(size=ctypes.sizeof(Info))
            self._dll.GetMonitorInfoW(monitor, ctypes.byref(info))
            x, y = ctypes.c_uint(), ctypes.c_uint()
            handle = self._types.HMONITOR(monitor)
            self._shcore.GetDpiForMonitor(handle, _MDT_EFFECTIVE_DPI, ctypes.byref(x), ctypes.byref(y))
            return Screen(monitor=_edges(info.monitor), work=_edges(info.work), dpi=x.value)

        def _read(self, hwnd: int, screens: list[int]) -> Raw | None:
            """What is known of a window; None where it has vanished meanwhile."""

            class Placement(ctypes.Structure):
                _fields_ = (
                    ("length", self._types.UINT),
                    ("flags", self._types.UINT),
                    ("show", self._types.UINT),
                    ("minimised", self._types.POINT),
                    ("maximised", self._types.POINT),
                    ("normal", self._types.RECT),
                )

            pid, rect = self._types.DWORD(), self._types.RECT()
            placement = Placement(length=ctypes.sizeof(Placement))
            name = ctypes.create_unicode_buffer(256)
            monitor = self._dll.MonitorFromWindow(hwnd, _MONITOR_DEFAULTTONEAREST)
            there = (
                self._dll.GetWindowThreadProcessId(hwnd, ctypes.byref(pid))
                and self._dll.GetWindowRect(hwnd, ctypes.byref(rect))
                and self._dll.GetWindowPlacement(hwnd, ctypes.byref(placement))
                and self._dll.GetClassNameW(hwnd, name, len(name))
            )
            dpi = self._dll.GetDpiForWindow(hwnd)
            if not there or not dpi or monitor not in screens:
                return None
            return Raw(
                hwnd=hwnd,
                pid=pid.value,
                class_name=name.value,
                style=self._dll.GetWindowLongW(hwnd, _GWL_STYLE) & 0xFFFFFFFF,
                ex_style=self._dll.GetWindowLongW(hwnd, _GWL_EXSTYLE) & 0xFFFFFFFF,
                owner=self._dll.GetWindow(hwnd, _GW_OWNER) or 0,
                visible=bool(self._dll.IsWindowVisible(hwnd)),
                iconic=bool(self._dll.IsIconic(hwnd)),
                rect=_edges(rect),
                normal=_edges(placement.normal),
                dpi=dpi,
                screen=screens.index(monitor),
            )


def _edges(rect: Any) -> Edges:
    return Edges(rect.left, rect.top, rect.right, rect.bottom)

"""Clock, temperature and driver of a GPU, by the management library that each driver brings."""
import ctypes

SM_CLOCK = 1
GPU_SENSOR = 0
# Those that hold a device back, as src/jit/nvml.cpp has them.
THROTTLE_REASONS = 0x4 | 0x8 | 0x10 | 0x20 | 0x40 | 0x80


class Nvml:
    """Reads zeros where the library is missing or does not answer."""

    def __init__(self, uuid):
        self._device = None
        try:
            self._library = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            return
        device = ctypes.c_void_p()
        if self._library.nvmlInit_v2() == 0 and (
            self._library.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(device)) == 0
        ):
            self._device = device

    def conditions(self):
        """[clock in MHz, temperature in °C, whether throttled]"""
        if self._device is None:
            return [0.0, 0.0, False]
        clock = ctypes.c_uint()
        temperature = ctypes.c_uint()
        reasons = ctypes.c_ulonglong()
        library = self._library
        library.nvmlDeviceGetClockInfo(self._device, SM_CLOCK, ctypes.byref(clock))
        library.nvmlDeviceGetTemperature(self._device, GPU_SENSOR, ctypes.byref(temperature))
        # Drivers before 535 have the reasons under their older name.
        for name in ("nvmlDeviceGetCurrentClocksEventReasons",
                     "nvmlDeviceGetCurrentClocksThrottleReasons"):
            if hasattr(library, name):
                getattr(library, name)(self._device, ctypes.byref(reasons))
                break
        is_throttled = reasons.value & THROTTLE_REASONS != 0
        return [float(clock.value), float(temperature.value), is_throttled]

    def driver_version(self):
        if self._device is None:
            return ""
        text = ctypes.create_string_buffer(96)
        self._library.nvmlSystemGetDriverVersion(text, len(text))
        return text.value.decode()

# SPDX-License-Identifier: Apache-2.0


def pytest_configure(config):
    config.addinivalue_line("markers", "serial: begins hundreds of calls at once: nothing else is tested meanwhile, or they measure each other")

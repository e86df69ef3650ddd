"""Tests of the other kernels, once more, in forked ones."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kernels import test_client, test_kernels
from kernels.forked_lane import provisioner_of, start_forked, write_spec
from kernels.lanes import renew

from cellwright.kernels.fresh import FreshKernel
from cellwright.kernels.provisioner import warmed_processes

pytestmark = [pytest.mark.kernel, pytest.mark.skipif("sys.platform != 'linux'")]


@pytest.fixture(scope="module")
def shared_forked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FreshKernel]:
    folder = tmp_path_factory.mktemp("specs")
    write_spec(folder, "forked")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(folder))
        with start_forked(folder) as kernel:
            assert provisioner_of(kernel).fallback_reason == ""
            yield kernel
    warmed_processes.close()


@pytest.fixture
def client(shared_forked: FreshKernel, tmp_path: Path) -> FreshKernel:
    """Takes the place of the fixture with a normal kernel."""
    renew(shared_forked, tmp_path)
    return shared_forked


@pytest.fixture
def kernel(client: FreshKernel) -> FreshKernel:
    """Takes the place of the fixture with both other lanes."""
    return client


@pytest.fixture
def fresh(shared_forked: FreshKernel, tmp_path: Path) -> Iterator[FreshKernel]:
    """A forked kernel that the test may break."""
    with start_forked(tmp_path) as kernel:
        assert provisioner_of(kernel).fallback_reason == ""
        yield kernel


BORROWED = (
    *vars(test_client).values(),
    test_kernels.test_text_displays_results_and_errors_come_in_order,
    test_kernels.test_an_inline_figure_is_a_picture,
    test_kernels.test_top_level_await_works,
    test_kernels.test_a_task_lasts_from_one_cell_to_the_next,
    test_kernels.test_shell_commands_show_and_return_their_output,
    test_kernels.test_output_of_a_child_process_belongs_to_its_cell,
    test_kernels.test_output_of_threads_is_seen,
    test_kernels.test_asking_for_input_says_that_there_is_no_keyboard,
    test_kernels.test_exit_does_not_end_the_kernel,
    test_kernels.test_sys_exit_is_an_error_and_the_kernel_lives,
    test_kernels.test_bytes_written_past_the_text_layer_do_no_harm,
    test_kernels.test_the_kernel_describes_itself,
    test_kernels.test_flushed_prints_come_in_few_pieces,
    test_kernels.test_endless_output_is_stopped,
    test_kernels.test_a_cell_that_takes_too_long_is_stopped_and_its_output_kept,
    test_kernels.test_stop_ends_a_cell_within_a_second,
)
"""What a fork could change: streams, signals, threads, children, ends, how a kernel is reached.

The rest, a cell's namespace and what it shows, is the same code; most other tests fork theirs.
"""


def takes_a_kernel(test: Any) -> bool:
    """Whether a test takes a kernel of a fixture: the others start one, or need none."""
    return getattr(test, "__name__", "").startswith("test_") and bool(
        {"kernel", "client", "fresh"} & set(inspect.signature(test).parameters)
    )


globals().update({test.__name__: test for test in BORROWED if takes_a_kernel(test)})

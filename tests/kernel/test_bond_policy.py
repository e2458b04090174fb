"""In the lab's own kernel: a bond that nodes/bonding/bond_policy.py has set sends each frame as the plan computes."""

import bonds
import pytest
from guests import lines


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    return lines("bonds.py", tmp_path_factory.mktemp("guest"))


@pytest.mark.parametrize("policy", bonds.POLICIES[:-1])
@pytest.mark.parametrize("case", bonds.CASES, ids=lambda case: f"{case[0]} of {case[1]}")
def test_every_frame_leaves_by_the_member_that_is_computed(
    found: list[dict[str, object]], case: tuple[str, int], policy: str
) -> None:
    rows = [row for row in found if (row["mode"], row["members"], row["policy"]) == (*case, policy)]
    assert rows, found
    for row in rows:
        assert (row["in_force"], row["right"], row["used"]) == (policy, bonds.FRAMES, case[1])

"""chain:N, a synthetic serial chain for tests and scaling curves."""

from __future__ import annotations

MAX_JOINTS = 1000


def chain_urdf(joints: int) -> str:
    """The URDF of a chain of N = `joints` continuous joints that is 1 m long and weighs 1 kg in all.

    link_0 is the base, without mass. joint_i (i = 1..N) leads from link_(i-1) to link_i; it turns about
    its local z if i is odd and about its local y if i is even. joint_1 sits at the origin of link_0, each
    following joint L = 1/N m along x of the link before it, not turned at position zero. Each of link_1
    ... link_N is a uniform solid cylinder along x from its origin: length L, radius L/20, mass m = 1/N kg;
    so its centre of mass is (L/2, 0, 0), ixx = m r^2 / 2, iyy = izz = m (3 r^2 + L^2) / 12. No limits,
    damping or friction. A massless link "tool" is fixed L along x of link_N.
    """
    length = mass = 1.0 / joints
    radius = length / 20.0
    along = mass * radius**2 / 2.0
    across = mass * (3.0 * radius**2 + length**2) / 12.0
    inertial = (
        f'<inertial><origin xyz="{length / 2.0!r} 0 0"/><mass value="{mass!r}"/>'
        f'<inertia ixx="{along!r}" ixy="0" ixz="0" iyy="{across!r}" iyz="0" izz="{across!r}"/></inertial>'
    )
    lines = [f'<robot name="chain_{joints}">', '  <link name="link_0"/>']
    for i in range(1, joints + 1):
        axis, offset = ("0 0 1", "0 1 0")[(i - 1) % 2], length if i > 1 else 0
        lines += [
            f'  <link name="link_{i}">{inertial}</link>',
            f'  <joint name="joint_{i}" type="continuous">'
            f'<parent link="link_{i - 1}"/><child link="link_{i}"/>'
            f'<origin xyz="{offset!r} 0 0"/><axis xyz="{axis}"/></joint>',
        ]
    lines += [
        '  <link name="tool"/>',
        f'  <joint name="tool_joint" type="fixed"><parent link="link_{joints}"/><child link="tool"/>'
        f'<origin xyz="{length!r} 0 0"/></joint>',
        "</robot>",
    ]
    return "\n".join(lines) + "\n"

"""MJCF files at random: two robots with much of what the format has, and changes, most of them sensible."""

from __future__ import annotations

import copy
import math
import random
import xml.etree.ElementTree as ET

ARM = """<mujoco model="arm">
  <compiler angle="degree" autolimits="true"/>
  <option gravity="0.3 -0.2 -9.7"/>
  <default>
    <joint armature="0.02" damping="0.3"/>
    <default class="wrist">
      <joint armature="0.005" stiffness="2" springref="20"/>
      <geom density="500"/>
    </default>
  </default>
  <worldbody>
    <geom type="plane" size="1 1 0.1"/>
    <body name="base" pos="0 0.1 0.2" euler="0 0 90">
      <geom type="cylinder" size="0.1 0.05" mass="3"/>
      <body name="upper" pos="0.1 0 0.1" euler="30 0 10">
        <joint name="shoulder" axis="0 1 0.5" pos="0.02 0 0.01" range="-120 100" ref="15"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0.1" size="0.03"/>
        <site name="mark" pos="0.1 0 0" quat="1 0.2 0 0"/>
        <frame pos="0.3 0 0.1" euler="0 20 0">
          <body name="fore" pos="0.01 0 0" childclass="wrist">
            <joint name="twist" type="hinge" axis="1 0 0" range="-90 90"/>
            <joint name="out" type="slide" axis="0 0.2 1" pos="0 0.1 0" range="-0.1 0.2" ref="0.05"/>
            <joint name="bend" axis="0 1 0" pos="0.05 0 0.02"/>
            <geom type="box" size="0.05 0.02 0.03" pos="0.05 0 0"/>
            <body name="hand" pos="0.1 0 0" axisangle="0 1 0 40">
              <joint name="ball" type="ball" pos="0 0 0.01" stiffness="0"/>
              <inertial pos="0.01 0.02 0" mass="0.4" fullinertia="0.002 0.003 0.004 0.0001 0 0.0002"/>
              <geom type="ellipsoid" size="0.02 0.03 0.04" contype="0" conaffinity="0"/>
            </body>
          </body>
        </frame>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="m1" joint="shoulder" gear="50" ctrlrange="-1 1"/>
    <position name="m2" joint="bend" kp="20" forcerange="-5 5"/>
  </actuator>
</mujoco>"""
WALKER = """<mujoco model="walker">
  <compiler angle="radian" eulerseq="zyx" inertiafromgeom="true"/>
  <option density="0"/>
  <default><joint limited="auto" damping="0.1"/><geom density="900"/></default>
  <worldbody>
    <body name="trunk" pos="0 0 0.5" quat="0.9 0.1 0.2 0.1">
      <freejoint name="root"/>
      <geom type="box" size="0.2 0.1 0.05"/>
      <body name="leg" pos="0.2 0 0">
        <joint name="hip" axis="0 1 0" range="-1 1" armature="0.01"/>
        <joint name="spread" axis="1 0 0" range="-0.5 0.5"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02"/>
        <body name="shin" pos="0 0 -0.2">
          <joint name="knee" axis="0 1 0" range="-2 0" ref="-0.4"/>
          <geom type="capsule" fromto="0 0 0 0.05 0 -0.2" size="0.015"/>
          <body pos="0.05 0 -0.2"><geom type="sphere" size="0.03"/><site name="sole"/></body>
        </body>
      </body>
      <replicate count="2" offset="-0.2 0 0" euler="0 0 0.3">
        <body name="tail" pos="-0.2 0.05 0">
          <joint name="wag" axis="0 0 1" frictionloss="0.1"/>
          <geom size="0.03"/>
        </body>
      </replicate>
    </body>
    <body name="target" mocap="true" pos="1 0 0"><geom size="0.02" contype="0" conaffinity="0"/></body>
  </worldbody>
  <actuator><general name="a" joint="knee" gear="-20" ctrlrange="-1 1" gainprm="2"/></actuator>
  <keyframe><key name="home"/></keyframe>
</mujoco>"""
SEEDS = (ARM, WALKER)

_POSES = ("pos", "quat", "euler", "axisangle", "xyaxes", "zaxis")
_ATTRIBUTES: dict[str, dict[str, tuple[str, ...]]] = {
    "compiler": {
        "angle": ("degree", "radian"),
        "autolimits": ("true", "false"),
        "eulerseq": ("xyz", "XYZ", "zyx", "zxz", "xYz"),
        "inertiafromgeom": ("true", "false", "auto"),
        "boundmass": ("0", "0.5"),
        "boundinertia": ("0", "0.01"),
        "balanceinertia": ("true", "false"),
        "settotalmass": ("-1", "5"),
        "fusestatic": ("true", "false"),
        "inertiagrouprange": ("0 5", "0 0"),
        "discardvisual": ("true",),
        "alignfree": ("true",),
    },
    "option": {
        "gravity": ("0 0 0", "0 0 -1.6", "1 2 3"),
        "density": ("0", "1000"),
        "viscosity": ("0.1",),
        "wind": ("1 0 0",),
        "integrator": ("implicit", "RK4"),
    },
    "joint": {
        "type": ("hinge", "slide", "ball", "free"),
        "ref": ("0", "20", "-0.3", "90", "-89.99999999999", "1e5"),
        "range": ("0 0.5", "-1 1", "-90 90"),
        "limited": ("true", "false", "auto"),
        "armature": ("0", "0.3"),
        "stiffness": ("0", "5", "1 2"),
        "springref": ("0.2", "-10"),
        "springdamper": ("0.1 1",),
        "damping": ("0", "2", "1 0.5"),
        "frictionloss": ("0", "0.3"),
        "actuatorfrcrange": ("-3 3",),
        "actuatorgravcomp": ("true",),
        "class": ("wrist", "deep", "deeper"),
        "axis": ("1 0 0", "0 0 -1", "1 1 1", "0 0 0", "1 1e-12 0", "1e-5 -1 1e-7", "1e-13 1e-13 1e-13"),
        "pos": ("0 0 0.1", "0.2 -0.1 0"),
    },
    "body": {
        "gravcomp": ("0", "1", "0.5"),
        "mocap": ("true",),
        "childclass": ("wrist",),
        "euler": ("10 20 30", "0 0 1.5707963", "0 90 0", "20 90 -30", "1e-11 89.9999999999 1e-3", "180 0 90"),
        "quat": ("1 1 0 0", "0 0 0 1", "1 1e-12 0 0", "0.70710678 0 0.70710678 0", "1e-9 1 0 0"),
        "xyaxes": ("0 1 0 -1 0 0",),
        "zaxis": ("0 1 1",),
        "pos": ("0 0 0", "0.3 0.2 0.1"),
    },
    "geom": {
        "type": ("sphere", "box", "capsule", "cylinder", "ellipsoid", "plane"),
        "mass": ("0", "2", "1e-9", "1e7"),
        "density": ("0", "100"),
        "size": ("0.1", "0.05 0.06 0.07"),
        "quat": ("0.5 0.5 0.5 0.5",),
        "group": ("4",),
        "shellinertia": ("true",),
        "contype": ("0",),
    },
    "motor": {
        "gear": ("-3", "0", "2 1"),
        "ctrlrange": ("0 1", "-2 2"),
        "forcerange": ("-1 4",),
        "ctrllimited": ("false",),
        "group": ("1", "-1", "31"),
        "armature": ("0.1",),
        "damping": ("0.3",),
    },
    "general": {
        "dyntype": ("filter", "integrator", "none"),
        "biastype": ("affine",),
        "gainprm": ("-3",),
        "armature": ("0.2",),
        "group": ("1",),
    },
    "position": {
        "kp": ("0", "30"),
        "kv": ("2",),
        "timeconst": ("0.1",),
        "inheritrange": ("1", "0.5"),
        "armature": ("0.1",),
        "damping": ("0.4",),
    },
    "inertial": {
        "mass": ("0", "1"),
        "diaginertia": ("1 1 1", "0.1 0.1 0.5"),
        "quat": ("1 0 1 0",),
        "pos": ("0 0 0.3",),
    },
}
_SECTIONS = (
    '<equality><joint joint1="bend" joint2="twist" polycoef="0 1 0 0 0"/></equality>',
    '<equality><connect body1="hand" body2="base" anchor="0 0 0" active="false"/></equality>',
    '<equality><weld body1="leg"/></equality>',
    '<tendon><fixed name="t" stiffness="3" armature="0.2"><joint joint="bend" coef="1"/></fixed></tendon>',
    '<tendon><spatial name="s" damping="1"><site site="mark"/><site site="sole"/></spatial></tendon>',
    '<actuator><motor name="extra" joint="knee" gear="4" armature="0.03" damping="0.2"/></actuator>',
    '<actuator><muscle name="extra" joint="shoulder" ctrlrange="0 1"/></actuator>',
    '<actuator><motor name="of_ball" joint="ball" gear="1 2 3"/></actuator>',
    '<actuator><motor name="of_root" joint="root" gear="1 2 3 0 0 0"/></actuator>',
    '<option><flag gravity="disable"/></option>',
    '<option><flag spring="disable" damper="disable"/></option>',
    '<option><flag equality="disable" limit="disable"/></option>',
    '<option><flag actuation="disable"/></option>',
    '<option><flag clampctrl="disable"/></option>',
    '<option actuatorgroupdisable="0"/>',
    '<option actuatorgroupdisable="1 2"/>',
    '<actuator><motor name="of_ball" joint="ball" gear="2 1 0" armature="0.3" damping="0.1"/></actuator>',
    '<actuator><motor name="of_root" jointinparent="root" gear="-3" armature="0.2"/></actuator>',
    '<default><joint ref="0.2" stiffness="1"/></default>',
    '<default><geom type="box" size="0.1 0.1 0.1"/></default>',
    '<default><default class="deep"><joint pos="0 0.1 0" axis="1 1 0"/><default class="deeper">'
    '<joint ref="10" armature="0.4" springref="5"/></default></default></default>',
    '<include file="missing.xml"/>',
    '<keyframe><key qpos="1 2"/></keyframe>',
    '<contact><exclude body1="leg" body2="trunk"/></contact>',
    '<sensor><gyro site="mark"/></sensor>',
    '<statistic extent="2"/>',
    "<custom><numeric name='n' data='1'/></custom>",
)
_INSERTS = (
    '<joint type="hinge" axis="0 0 1" pos="0.1 0 0"/>',
    '<joint type="slide" axis="1 1 0"/>',
    '<joint type="ball" range="0 1" limited="true"/>',
    "<freejoint/>",
    '<site name="more" pos="0 0 0.1"/>',
    '<body pos="0 0 0.1"><joint/><geom size="0.05"/></body>',
    '<body name="stuck"><geom size="0.05" pos="0.1 0 0"/></body>',
    '<geom type="sphere" size="0.1" pos="0.1 0.2 0.3"/>',
    '<inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>',
    '<camera pos="0 0 1"/>',
    '<light pos="0 0 1"/>',
    '<frame euler="0 0 30"><body><joint axis="1 0 0"/><geom size="0.1"/></body></frame>',
    '<replicate count="3" euler="0 0 0.5"><body pos="0.3 0 0"><joint/><geom size="0.02"/></body></replicate>',
)
# Those before MuJoCo's own count of controls or forces runs ahead of that of actuators.
_FIRST = (
    '<pid name="servo" joint="bend" kp="3" kv="1" input="pos vel"/>',
    '<pid name="servo" joint="knee" kp="3" kv="1" input="pos vel" forcerange="-2 2" armature="0.1"/>',
    '<general name="turner" joint="ball" gaintype="so3" biastype="so3" gainprm="1" biasprm="0 -1"/>',
    '<motor name="spare" joint="knee" group="1" gear="2" ctrlrange="-1 1" armature="0.1" damping="0.2"/>',
    '<dcmotor name="dc" joint="shoulder" motorconst="0.1" resistance="2" ctrlrange="-9 9" armature="0.1"/>',
    '<velocity name="brake" joint="hip" kv="2" group="2" ctrlrange="-1 1"/>',
)
_MESH = {
    "scale": ("2 2 2", "1 -1 1", "0.5 1 2"),
    "refpos": ("0.1 0.2 0",),
    "refquat": ("1 1 0 0", "0.3 0.2 0.9 0.1"),
    "inertia": ("exact", "legacy", "convex", "shell"),
}
_WORDS = ("nan", "inf", "1e400", "", "x", "1,5", "0x10", "-", "1e-320", "1e31", "1e200")


def mutated(rng: random.Random) -> str:
    """One file: one of the seeds with one to six changes."""
    root = ET.fromstring(rng.choice(SEEDS))
    for _ in range(rng.choice((1, 1, 2, 3, 4, 6))):
        rng.choice(_CHANGES)(root, rng)
    text = ET.tostring(root, encoding="unicode")
    if rng.random() < 0.02:
        text = text[: rng.randrange(len(text))]
    return text


def _elements(root: ET.Element) -> list[tuple[ET.Element, ET.Element]]:
    return [(parent, child) for parent in root.iter() for child in parent]


def _attribute(root: ET.Element, rng: random.Random) -> None:
    """One of the attributes that change what is moved without a word."""
    known = [child for _, child in _elements(root) if child.tag in _ATTRIBUTES]
    if known:
        tag = rng.choice(sorted({child.tag for child in known}))
        chosen = rng.choice([child for child in known if child.tag == tag])
        name = rng.choice(sorted(_ATTRIBUTES[chosen.tag]))
        if name in _POSES[1:]:
            for other in _POSES[1:]:
                chosen.attrib.pop(other, None)
        chosen.set(name, rng.choice(_ATTRIBUTES[chosen.tag][name]))


def _number(root: ET.Element, rng: random.Random) -> None:
    """A number scaled, turned round, or zero."""
    places = [
        (child, name, i)
        for _, child in _elements(root)
        for name, value in child.attrib.items()
        for i, word in enumerate(value.split())
        if _is_number(word)
    ]
    if places:
        child, name, i = rng.choice(places)
        words = child.attrib[name].split()
        factor = rng.choice((-1.0, 0.0, 0.5, 2.0, 10.0, math.pi, 1e-3, 1e3, 1e9))
        words[i] = repr(float(words[i]) * factor + rng.choice((0.0, 0.0, 0.1)))
        child.set(name, " ".join(words))


def _word(root: ET.Element, rng: random.Random) -> None:
    """A number that is none, or far too large."""
    places = [(child, name) for _, child in _elements(root) for name in child.attrib]
    if places:
        child, name = rng.choice(places)
        words = child.attrib[name].split() or [""]
        words[rng.randrange(len(words))] = rng.choice(_WORDS)
        child.set(name, " ".join(words))


def _delete(root: ET.Element, rng: random.Random) -> None:
    pairs = _elements(root)
    if pairs:
        parent, child = rng.choice(pairs)
        parent.remove(child)


def _drop_attribute(root: ET.Element, rng: random.Random) -> None:
    places = [(child, name) for _, child in _elements(root) for name in child.attrib]
    if places:
        child, name = rng.choice(places)
        del child.attrib[name]


def _duplicate(root: ET.Element, rng: random.Random) -> None:
    """A second one, with names of its own or without any."""
    parent, child = rng.choice(_elements(root) or [(root, ET.Element("option"))])
    other = copy.deepcopy(child)
    for element in other.iter():
        if "name" in element.attrib and rng.random() < 0.95:
            if rng.random() < 0.5:
                element.set("name", element.attrib["name"] + str(rng.randrange(1000)))
            else:
                del element.attrib["name"]
    parent.append(other)


def _move(root: ET.Element, rng: random.Random) -> None:
    """A body elsewhere."""
    bodies = [(parent, child) for parent, child in _elements(root) if child.tag == "body"]
    if len(bodies) > 1:
        parent, child = rng.choice(bodies)
        inside = set(child.iter())
        places = [body for _, body in bodies if body not in inside]
        world = root.find("worldbody")
        target = rng.choice([*places, *([world] if world is not None else [])] or [parent])
        parent.remove(child)
        target.append(child)


def _insert(root: ET.Element, rng: random.Random) -> None:
    bodies = [element for element in root.iter() if element.tag in ("body", "worldbody", "frame")]
    if bodies:
        place = rng.choice(bodies)
        place.insert(rng.randrange(len(place) + 1), ET.fromstring(rng.choice(_INSERTS)))


def _section(root: ET.Element, rng: random.Random) -> None:
    root.append(ET.fromstring(rng.choice(_SECTIONS)))


def _first(root: ET.Element, rng: random.Random) -> None:
    """An actuator before all others."""
    section = ET.Element("actuator")
    section.append(ET.fromstring(rng.choice(_FIRST)))
    root.insert(0, section)


def _frame(root: ET.Element, rng: random.Random) -> None:
    """A body inside a <frame> or a <replicate>."""
    bodies = [(parent, child) for parent, child in _elements(root) if child.tag == "body"]
    if bodies:
        parent, child = rng.choice(bodies)
        position = list(parent).index(child)
        around = ET.fromstring(
            rng.choice(
                (
                    '<frame pos="0.1 0.2 0.3" quat="1 0.3 0.2 0.1"/>',
                    '<frame euler="0 0 90" childclass="wrist"/>',
                    '<replicate count="2" offset="0 0.3 0"/>',
                )
            )
        )
        parent.remove(child)
        around.append(child)
        parent.insert(position, around)


def _mesh(root: ET.Element, rng: random.Random) -> None:
    """A geom that is a mesh, and has its inertia one way or another."""
    asset, name = ET.SubElement(root, "asset"), f"rock{rng.randrange(1000)}"
    rock = ET.SubElement(asset, "mesh", name=name, vertex="0 0 0 0.1 0 0 0.02 0.2 0 0 0.1 0.3")
    for key, values in _MESH.items():
        if rng.random() < 0.4:
            rock.set(key, rng.choice(values))
    bodies = [element for element in root.iter() if element.tag == "body"]
    if bodies:
        ET.SubElement(rng.choice(bodies), "geom", type="mesh", mesh=name, pos="0.1 0 0.05", euler="1 2 0.3")


def _swap(root: ET.Element, rng: random.Random) -> None:
    """The order of siblings, joints among them."""
    owners = [element for element in root.iter() if len(element) > 1]
    if owners:
        owner = rng.choice(owners)
        children = list(owner)
        rng.shuffle(children)
        owner[:] = children


def _is_number(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False


_CHANGES = (
    *(_attribute, _attribute, _attribute, _number, _number, _insert, _insert, _section, _first, _mesh),
    *(_delete, _drop_attribute, _duplicate, _move, _frame, _swap, _word),
)

"""Examples of files with something wrong in them."""

from __future__ import annotations

from collections.abc import Callable

import onnx
from onnx import AttributeProto, TensorProto, helper

from .parts import OPSCOPE, Example, X, Y, chain, model, node, port, ramp

LARGE = 5_000  # nodes


def changed(
    change: Callable[[onnx.ModelProto], None], made: Callable[[], onnx.ModelProto]
) -> Callable[[], onnx.ModelProto]:
    """A maker of the same model after ``change``."""

    def make() -> onnx.ModelProto:
        proto = made()
        change(proto)
        return proto

    return make


def two_relus() -> onnx.ModelProto:
    """Two nodes, in order."""
    return chain("Relu", "Relu")


def cycle(proto: onnx.ModelProto) -> None:
    """The first node reads what the second makes."""
    proto.graph.node[0].op_type = "Add"
    proto.graph.node[0].input.append("y")


def undefined_input(proto: onnx.ModelProto) -> None:
    """The second node reads a value that is not there."""
    proto.graph.node[1].input[0] = "missing"


def missing_output(proto: onnx.ModelProto) -> None:
    """The model promises one more output."""
    proto.graph.output.append(port("z", "float32", (2, 6)))


def defined_twice(proto: onnx.ModelProto) -> None:
    """Both nodes make y."""
    proto.graph.node[0].output[0] = "y"
    proto.graph.node[1].input[0] = "x"


def reversed_nodes(proto: onnx.ModelProto) -> None:
    """The second node stands first."""
    nodes = list(proto.graph.node)[::-1]
    del proto.graph.node[:]
    proto.graph.node.extend(nodes)


def one_name(proto: onnx.ModelProto) -> None:
    """Both nodes have one name."""
    for each in proto.graph.node:
        each.name = "relu"


def without_imports(proto: onnx.ModelProto) -> None:
    """The file says no opset."""
    del proto.opset_import[:]


def named(name: bytes) -> Callable[[], bytes]:
    """A maker of a file whose first node has this name of five bytes, which need not be UTF-8."""

    def make() -> bytes:
        proto = two_relus()
        proto.graph.node[0].name = "?????"
        data: bytes = proto.SerializeToString(deterministic=True)
        return data.replace(b"?????", name)

    return make


def weighted() -> onnx.ModelProto:
    """One node that adds a weight."""
    return model([node("Add", "x w", "y", "add")], [X], [Y], {"w": ramp((2, 6))})


def short_weight(proto: onnx.ModelProto) -> None:
    """Half of the weight's bytes are gone."""
    tensor = proto.graph.initializer[0]
    tensor.raw_data = tensor.raw_data[:24]


def negative_shape(proto: onnx.ModelProto) -> None:
    """The weight has a negative dimension."""
    proto.graph.initializer[0].dims[0] = -2


def unnamed(proto: onnx.ModelProto) -> None:
    """One more weight, without a name."""
    proto.graph.initializer.append(TensorProto(data_type=TensorProto.FLOAT, float_data=[0]))


def unknown_type(proto: onnx.ModelProto) -> None:
    """The input has an element type that does not exist."""
    proto.graph.input[0].type.tensor_type.elem_type = 99


def external(**entries: str) -> Callable[[onnx.ModelProto], None]:
    """The weight's data is said to lie in another file."""

    def change(proto: onnx.ModelProto) -> None:
        tensor = proto.graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in entries.items():
            tensor.external_data.add(key=key, value=value)

    return change


def attribute_twice(proto: onnx.ModelProto) -> None:
    """A second alpha."""
    proto.graph.node[0].attribute.append(helper.make_attribute("alpha", 0.2))


def attribute_without_type(proto: onnx.ModelProto) -> None:
    """An attribute of which there is only the name."""
    proto.graph.node[0].attribute[0].CopyFrom(AttributeProto(name="alpha"))


def leaky() -> onnx.ModelProto:
    """A node with one attribute."""
    return model([node("LeakyRelu", "x", "y", "leaky", alpha=0.1)], [X], [Y])


def with_function(copies: int) -> Callable[[], onnx.ModelProto]:
    """A maker of a model with a local function, defined so often."""

    def make() -> onnx.ModelProto:
        imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
        twice = helper.make_function(
            "local", "Twice", ["a"], ["b"], [node("Add", "a a", "b", "sum")], imports[:1]
        )
        call = helper.make_node("Twice", ["x"], ["y"], name="call", domain="local")
        return model([call], [X], [Y], opset_imports=imports, functions=[twice] * copies)

    return make


def many(count: int) -> Callable[[], onnx.ModelProto]:
    """A maker of a chain of so many nodes."""
    return lambda: chain(*["Relu"] * count)


def mapped() -> onnx.ModelProto:
    """ZipMap: class probabilities as maps."""
    zipmap = helper.make_node(
        "ZipMap", ["x"], ["y"], name="zip", domain="ai.onnx.ml", classlabels_int64s=range(6)
    )
    kind = helper.make_map_type_proto(
        TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, ())
    )
    out = helper.make_value_info("y", helper.make_sequence_type_proto(kind))
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return model([zipmap], [X], [out], opset_imports=imports)


def sequence(proto: onnx.ModelProto) -> None:
    """The output's type says no more than that it is a sequence."""
    proto.graph.output[0].type.sequence_type.elem_type.Clear()


def splitting() -> onnx.ModelProto:
    """A sequence of tensors."""
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, (1, 6)))
    split = node("SplitToSequence", "x", "y", "split")
    return model([split], [X], [helper.make_value_info("y", kind)])


def sparse() -> onnx.ModelProto:
    """A weight of which only two numbers are stored."""
    values = helper.make_tensor("w", TensorProto.FLOAT, [2], [1.0, 2.0])
    indices = helper.make_tensor("w_indices", TensorProto.INT64, [2], [0, 7])
    proto = model([node("Add", "x w", "y", "add")], [X], [Y])
    proto.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [2, 6]))
    return proto


WHOLE = ramp((2, 6)).tobytes()
DATA = "weights.bin"

EXAMPLES = {
    "cycle": Example(changed(cycle, two_relus), "relu_1", two_relus, OPSCOPE),
    "undefined-input": Example(changed(undefined_input, two_relus), "relu_1", two_relus, OPSCOPE),
    "missing-output": Example(
        changed(missing_output, two_relus), mended=two_relus, options=OPSCOPE
    ),
    "value-defined-twice": Example(changed(defined_twice, two_relus), "relu_1", two_relus, OPSCOPE),
    "unsorted-nodes": Example(changed(reversed_nodes, two_relus), "relu_1", two_relus, OPSCOPE),
    "duplicate-node-name": Example(changed(one_name, two_relus), "relu", two_relus, OPSCOPE),
    "no-opset-import": Example(
        changed(without_imports, two_relus), mended=two_relus, options=OPSCOPE
    ),
    "invalid-utf8": Example(named(b"na\xefve"), "na\\xefve", named(b"naive"), OPSCOPE),
    "unreadable-weight": Example(changed(short_weight, weighted), mended=weighted, options=OPSCOPE),
    "invalid-tensor": Example(changed(negative_shape, weighted), mended=weighted, options=OPSCOPE),
    "unnamed-initializer": Example(changed(unnamed, weighted), mended=weighted, options=OPSCOPE),
    "unknown-element-type": Example(
        changed(unknown_type, weighted), mended=weighted, options=OPSCOPE
    ),
    "external-data-missing": Example(
        changed(external(location=DATA), weighted), mended=weighted, options=OPSCOPE
    ),
    "external-data-outside": Example(
        changed(external(location="../" + DATA), weighted), mended=weighted, options=OPSCOPE
    ),
    "external-data-size": Example(
        changed(external(location=DATA), weighted),
        mended=weighted,
        options=OPSCOPE,
        beside={DATA: WHOLE[:24]},
    ),
    "external-data-invalid": Example(
        changed(external(location=DATA, offset="-8"), weighted), mended=weighted, options=OPSCOPE
    ),
    "external-data-key": Example(
        changed(external(location=DATA, colour="blue"), weighted),
        mended=changed(external(location=DATA), weighted),
        options=OPSCOPE,
        beside={DATA: WHOLE},
    ),
    "attribute-given-twice": Example(changed(attribute_twice, leaky), "leaky", leaky, OPSCOPE),
    "attribute-without-type": Example(
        changed(attribute_without_type, leaky), "leaky", leaky, OPSCOPE
    ),
    "function-defined-twice": Example(with_function(2), mended=with_function(1), options=OPSCOPE),
    "large-model": Example(many(LARGE), options=OPSCOPE),
    "map-type": Example(mapped, options=OPSCOPE),
    "incomplete-type": Example(changed(sequence, splitting), mended=splitting, options=OPSCOPE),
    "sparse-tensor": Example(sparse, mended=weighted, options=OPSCOPE),
}

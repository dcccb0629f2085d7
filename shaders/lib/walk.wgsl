// A walk over a shape: where the item of a row-major index lies in each of two or three operands.
// params.axes holds (extent, a stride for each operand) of every axis, outermost first; a stride
// counts what the operand's array holds. One below zero works too: offsets wrap at 2^32.
// Needs ``operands``, how many there are.
fn offsets_of(index: u32) -> vec{{ operands }}<u32> {
  var rest = index;
  var offsets = vec{{ operands }}<u32>(0u);
  for (var axis = {{ rank }}u - 1u; axis > 0u; axis--) {
    let a = params.axes[axis];
    offsets += rest % a.x * a.{{ "yzw"[:operands] }};
    rest /= a.x;
  }
  return offsets + rest * params.axes[0].{{ "yzw"[:operands] }};
}

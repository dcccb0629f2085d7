// Reduces some axes, one invocation for each result.
// Bindings: 0 params, 1 source, 2 dense target. Grid: as many invocations as there are results.
alias Value = {{ value }};
alias Result = {{ result }};

{% include 'lib/items.wgsl' %}
{% include 'lib/math.wgsl' %}
{% include 'lib/elementary.wgsl' %}
{% include 'lib/reduction.wgsl' %}
{% include 'lib/reduce_axes.wgsl' %}

fn run_item(at: u32) {
  let start = kept_offset(at);
  var total = identity();
  for (var r = 0u; r < params.length; r++) {
    total = merge(total, prepare(Value(source[start + reduced_offset(r)]), r));
  }
  destination[at] = {{ target }}(finish(total));
}

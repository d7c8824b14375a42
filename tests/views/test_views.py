# SPDX-License-Identifier: GPL-2.0-only
"""What a view draws is what the tables say, worked out by hand on two links and two flows."""

from types import SimpleNamespace

import matplotlib
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from pyorch import plugins
from pyorch.errors import FigureError, PluginError
from pyorch.figures import style
from pyorch.figures.layout import TWO_COLUMNS_INCHES
from pyorch.figures.save import RC_PARAMS
from pyorch.views import draw, write
from pyorch.views._axes import COLORS, looks, names, outside_legend
from pyorch.views._draw import drawn

GBPS = 10**9
PORTS = pd.DataFrame(
    {"node": [2, 2], "peer": [0, 1], "parallel": [0, 0], "rate_bps": [8 * GBPS, 8 * GBPS],
     "sent_bytes": [1500, 500]}
)  # fmt: skip
# Sampled every us; the second link was idle in the first us and the third: rows are left out.
SAMPLES = pd.DataFrame(
    {"time_ps": [10**6, 2 * 10**6, 2 * 10**6, 3 * 10**6], "node": 2, "peer": [0, 0, 1, 0],
     "parallel": 0, "queue_bytes": [300, 100, 400, 0], "sent_bytes": [1000, 500, 500, 0],
     "paused_ps": 0}
)  # fmt: skip
FLOW_SAMPLES = pd.DataFrame(
    {"time_ps": [10**6, 2 * 10**6], "flow": [0, 1], "arrived_packets": 1,
     "arrived_bytes": [1000, 500]}
)  # fmt: skip
FLOWS = pd.DataFrame(
    {"flow": [0, 1], "src": [0, 1], "dst": [1, 0], "bytes": [1000, 500],
     "start_ps": pd.array([0, 500_000], "Int64"),
     "receiver_end_ps": pd.array([1_500_000, None], "Int64")}
)  # fmt: skip
PAUSES = pd.DataFrame(
    {"node": 2, "peer": 0, "parallel": 0, "priority": [0, 3], "start_ps": [10**6, 2 * 10**6],
     "end_ps": pd.array([15 * 10**5, None], "Int64")}
)  # fmt: skip


@pytest.fixture
def run():
    tables = {"ports": PORTS, "port_samples": SAMPLES, "flow_samples": FLOW_SAMPLES,
              "flows": FLOWS, "pauses": PAUSES}  # fmt: skip
    fct_ps = (FLOWS["receiver_end_ps"] - FLOWS["start_ps"]).rename("fct_ps")
    return SimpleNamespace(
        **tables, fct_ps=fct_ps, id="s1-ab", scenario="two", seed=1, scale="smoke",
        variant="", point_label="", parameters={"seed": 1}, outcome={"now_ps": 4 * 10**6},
        tables=list(tables),
        spec=SimpleNamespace(trace=SimpleNamespace(sample_ps=10**6)),
    )  # fmt: skip


def data(kind, *runs):
    return drawn(kind, list(runs))[1]


def series(table, name, column):
    return table.loc[table["series"] == name, column].tolist()


def test_a_flow_that_did_not_finish_keeps_the_curve_below_one(run):
    table = data("fct", run)

    assert table["fct_ps"].tolist() == [1_500_000] and table["share_of_flows"].tolist() == [0.5]


def test_what_was_left_out_of_the_samples_is_zero(run):
    queues, links = data("queues", run), data("links", run)

    assert series(queues, "2 to 1", "queue_bytes") == [0, 400, 0]
    assert series(queues, "longest queue", "queue_bytes") == [300, 400, 0]
    # 1000 B in 1 us on 8 Gb/s, which carries 1000 B in a us.
    assert series(links, "2 to 0", "load_share") == [1.0, 0.5, 0.0]
    assert series(links, "mean of all links in use", "load_share") == [0.5, 0.5, 0.0]


def test_a_heat_map_has_every_link_at_every_moment(run):
    figure, table = drawn("heatmap", [run])
    image = figure.axes[0].images[0].get_array()

    assert image.tolist() == [[100, 50, 0], [0, 50, 0]]
    assert len(table) == len(SAMPLES)


def test_without_samples_a_heat_map_shows_the_whole_run(run):
    run.tables = ["ports", "flows"]
    run.ports = run.ports.assign(received_frames=pd.NA)  # as at flow level
    # 1500 B and 500 B in 4 us on links that carry 4000 B in that time.
    assert data("heatmap", run)["load_share"].tolist() == [0.375, 0.125]


def test_throughput_is_what_the_receivers_get(run):
    table = data("throughput", run)

    assert series(table, "flow 1", "rate_bps") == [0, 4 * GBPS]
    assert series(table, "mean of 2 receivers", "rate_bps") == [4 * GBPS, 2 * GBPS]


def test_a_pause_without_an_end_lasts_until_the_run_ends(run):
    assert data("pauses", run)["paused_ps"].tolist() == [500_000, 2 * 10**6]


def test_several_runs_are_told_apart_in_every_view_that_takes_them(run):
    other = SimpleNamespace(**vars(run) | {"seed": 2, "id": "s2-ab", "parameters": {"seed": 2}})
    for kind in ("fct", "queues", "links", "throughput"):
        figure, table = drawn(kind, [run, other])
        labels = [text.get_text() for text in figure.legends[0].get_texts()]
        assert len(labels) == len(set(labels)) == 2 and set(table["run"]) == {"s1-ab", "s2-ab"}
    for kind in ("heatmap", "pauses"):
        with pytest.raises(FigureError, match="shows one run. Name one."):
            draw(kind, [run, other])


def of_variants(run, *variants):
    return [
        SimpleNamespace(**vars(run) | {"id": f"s1-{n}", "parameters": {"n": n}, "variant": variant})
        for n, variant in enumerate(variants)
    ]


def colors(figure):
    return [line.get_color() for line in figure.axes[0].lines]


@pytest.mark.parametrize("kind", ["fct", "queues", "links", "throughput"])
def test_a_variant_has_the_colour_that_it_has_in_every_figure(run, kind):
    figure, _ = drawn(kind, of_variants(run, "sprayed", "rocev2"))

    assert colors(figure) == [style("sprayed").color, style("rocev2").color]


@pytest.mark.parametrize("kind", ["queues", "links", "throughput"])
def test_a_run_alone_has_the_colour_of_its_variant_and_its_parts_have_others(run, kind):
    figure, _ = drawn(kind, of_variants(run, "rocev2"))

    assert colors(figure)[0] == style("rocev2").color
    assert len(set(colors(figure))) == len(colors(figure)) > 1


def test_runs_of_one_variant_differ_in_their_lines_or_all_in_their_colours(run):
    few = looks(of_variants(run, "rocev2", "sprayed", "rocev2"))
    many = looks(of_variants(run, *["rocev2"] * 6))

    assert few[0]["color"] == few[2]["color"] and few[0]["linestyle"] != few[2]["linestyle"]
    assert [look["color"] for look in many] == list(COLORS[:6])


@pytest.mark.parametrize(
    ("labels", "parameters", "expected"),
    [
        (  # a legend has what it takes to tell lines apart, and no hash
            ["", "", ""],
            [{"link.flow_control": None, "workload.0.senders": 8},
             {"link.flow_control.type": "ns3::Pfc", "workload.0.senders": 8},
             {"link.flow_control.type": "ns3::Pfc", "workload.0.senders": 16}],
            ["no flow_control, senders 8", "Pfc, senders 8", "Pfc, senders 16"],
        ),
        (["A", "A", "B"], [{"link.rate_bps": GBPS}, {"link.rate_bps": 2 * GBPS}, {}],
         ["A, rate 1 Gbit/s", "A, rate 2 Gbit/s", "B"]),
        (["A", "B", "C"], [{"a.b": 1}, {"a.b": 2}, {"a.b": 3}], ["A", "B", "C"]),
        (["A", "A", "B"], [{"a.b": 1}] * 3, ["r0", "r1", "r2"]),  # the same run twice
    ],
)  # fmt: skip
def test_names_of_runs_are_as_long_as_it_takes_to_tell_them_apart(labels, parameters, expected):
    runs = [
        SimpleNamespace(id=f"r{i}", seed=1, point_label=label, parameters=its)
        for i, (label, its) in enumerate(zip(labels, parameters, strict=True))
    ]
    assert names(runs) == expected


def test_a_legend_of_many_long_names_lies_within_the_picture(run):
    runs = [
        SimpleNamespace(**vars(run) | {"id": f"r{i}", "point_label": f"a window of {i} bytes, ECN"})
        for i in range(9)
    ]
    figure, _ = drawn("queues", runs)
    FigureCanvasAgg(figure).draw()
    (legend,) = figure.legends
    around, axes = legend.get_window_extent(), figure.axes[0].get_window_extent()

    assert figure.bbox.x0 < around.x0 and around.x1 < figure.bbox.x1
    assert figure.bbox.y0 < around.y0 < around.y1 < axes.y0
    assert axes.height > 0.4 * figure.dpi * 2.7


def test_a_picture_is_sharp_enough_to_be_printed(run, tmp_path):
    draw("fct", [run], tmp_path / "a.png")
    width = int.from_bytes((tmp_path / "a.png").read_bytes()[16:20])

    assert width == int(TWO_COLUMNS_INCHES * 0.62 * 300)


def test_files_carry_scale_and_seeds_and_the_caption_says_which_runs(run, tmp_path):
    other = SimpleNamespace(**vars(run) | {"seed": 2, "id": "s2-ab"})
    one = write("queues", [run], tmp_path)
    two = write("fct", [run, other], tmp_path)

    assert {path.suffix for path in one} == {".pdf", ".svg", ".png", ".csv", ".txt"}
    assert {path.stem for path in one} == {"queues_two_smoke_s1-ab"}
    assert {path.stem for path in two} == {"fct_two_smoke_2_runs_2_seeds"}
    caption = (tmp_path / "fct_two_smoke_2_runs_2_seeds.txt").read_text()
    assert "two, smoke, 2 seeds. Runs: two/s1-ab; two/s2-ab." in caption
    assert caption.startswith("Share of the flows that are complete")


def test_a_file_that_is_no_figure_and_a_kind_that_is_none_are_refused(run, tmp_path):
    with pytest.raises(FigureError, match="a figure ends in .pdf, .svg, .png."):
        draw("fct", [run], tmp_path / "x.txt")
    with pytest.raises(PluginError, match="no views 'fctt'.*Did you mean fct?"):
        draw("fctt", [run])


def test_every_view_draws_the_same_bytes_twice(run, tmp_path):
    for kind in plugins.names("pyorch.views"):
        if kind in ("slowdown", "timeline"):  # need a real run
            continue
        for place in ("a", "b"):
            write(kind, [run], tmp_path / place)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name


def test_a_figure_shows_itself_in_a_notebook():
    from pyorch.views._draw import picture_class

    figure = picture_class()(figsize=(2, 1))
    figure.subplots().plot([1, 2])

    assert figure._repr_png_().startswith(b"\x89PNG")


def test_a_legend_has_no_line_that_is_cut_at_the_edge_of_the_figure():
    # 200 letters do not fit beside each other, 64 do.
    with matplotlib.rc_context(RC_PARAMS):
        figure = Figure(figsize=(0.62 * TWO_COLUMNS_INCHES, 2.7), layout="constrained")
        ax = figure.subplots()
        ax.plot([0, 1], label="word " * 40)
        outside_legend(ax, 1)
        figure.draw_without_rendering()
    (text,) = figure.legends[0].get_texts()
    box = figure.legends[0].get_window_extent()
    assert text.get_text().count("\n") == 3
    assert box.x0 >= 0 and box.x1 <= figure.bbox.x1

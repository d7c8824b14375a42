// SPDX-License-Identifier: GPL-2.0-only

// Tables that come while a run goes on: when it pauses for them, and what becomes of their rows.

#include "test-network.h"

namespace ns3
{
namespace tests
{

namespace
{

static Suite g_suite{"further-tables"};

constexpr int64_t DECIDES_PS = 5 * US_PS;

/// A barrier at host 0.
void
Barrier(TestNetwork& network, int64_t id, int64_t startPs, bool decides)
{
    network.Row("tasks",
                {{"task", id},
                 {"kind", 2},
                 {"node", 0},
                 {"stream", 0},
                 {"duration_ps", 0},
                 {"start_ps", startPs},
                 {"decides", decides}});
}

void
Message(TestNetwork& network, int64_t id, int64_t src, int64_t dst, int64_t startPs)
{
    network.Row(
        "flows",
        {{"flow", id}, {"src", src}, {"dst", dst}, {"bytes", 10'000}, {"start_ps", startPs}});
}

/// Message 1 from host 0 to 1, then 30 ns of computing and message 2 from host 1 to 2.
void
Work(TestNetwork& network, int64_t startPs)
{
    Message(network, 1001, 0, 1, startPs);
    Message(network, 1002, 1, 2, startPs);
    network.Row("tasks",
                {{"task", 1003},
                 {"kind", 0},
                 {"node", 1},
                 {"stream", 0},
                 {"duration_ps", 30'000},
                 {"start_ps", startPs},
                 {"decides", 0}});
    network.Row("dependencies", {{"flow", 1003}, {"after", 1001}});
    network.Row("dependencies", {{"flow", 1002}, {"after", 1003}});
}

/// Three hosts, a message from 2 to 1 that is in the way, and a barrier.
void
Begin(TestNetwork& network, bool decides)
{
    network.Star(3);
    network.Transport();
    Message(network, 0, 2, 1, DECIDES_PS - 1000);
    Barrier(network, 1, DECIDES_PS, decides);
}

/// @return the message of what is refused, empty if nothing is
template <typename Action>
std::string
Refusal(Action&& action)
{
    try
    {
        action();
    }
    catch (const std::runtime_error& error)
    {
        return error.what();
    }
    return "";
}

// Oracle: the same rows, known from the beginning.
TEST_CASE(g_suite, "rows that come later are what they are in the first tables")
{
    std::vector<std::vector<int64_t>> columns;
    for (const bool later : {false, true})
    {
        TestNetwork network;
        Begin(network, later);
        if (later)
        {
            network.Build();
            network.GetFacade().RunSlice(ALWAYS_PS, 1);
            network.GetFacade().Decided();
        }
        Work(network, DECIDES_PS);
        later ? network.Append() : network.Build();
        while (!network.GetFacade().RunSlice(ALWAYS_PS, 1))
        {
        }
        network.GetFacade().Finish();
        for (const auto& [table, column] : {std::pair{"flows", "receiver_end_ps"},
                                            {"flows", "sender_end_ps"},
                                            {"flows", "start_ps"},
                                            {"tasks", "task"},
                                            {"tasks", "start_ps"},
                                            {"tasks", "end_ps"},
                                            {"tasks", "after"}})
        {
            auto& cells = columns.emplace_back();
            for (size_t row = 0; row < network.Rows(table); row++)
            {
                cells.push_back(network.Cell(table, column, row));
            }
        }
    }
    for (size_t i = 0; i < columns.size() / 2; i++)
    {
        const auto& whole = columns[i];
        const auto& later = columns[i + columns.size() / 2];
        NS_TEST_ASSERT_MSG_EQ(whole.size(), later.size(), "rows of column " << i);
        for (size_t row = 0; row < whole.size(); row++)
        {
            NS_TEST_EXPECT_MSG_EQ(later[row], whole[row], "column " << i << ", row " << row);
        }
    }
}

TEST_CASE(g_suite, "a run pauses when a task that decides has ended, and after all of that time")
{
    TestNetwork network;
    Begin(network, true);
    Barrier(network, 2, DECIDES_PS, true);
    Barrier(network, 3, DECIDES_PS, false);
    network.Build();
    auto& facade = network.GetFacade();

    NS_TEST_EXPECT_MSG_EQ(facade.RunSlice(ALWAYS_PS, 1), true, "it pauses");
    NS_TEST_EXPECT_MSG_EQ(facade.NowPs(), DECIDES_PS, "at the end of the task");
    NS_TEST_EXPECT_MSG_EQ(facade.TasksDone(), 3, "all of that time has happened");
    NS_TEST_EXPECT_MSG_EQ(facade.FlowsDone(), 0, "and nothing later");
    NS_TEST_EXPECT_MSG_EQ(facade.RunSlice(ALWAYS_PS, 1), true, "as long as nobody asks");
    NS_TEST_EXPECT_MSG_EQ(facade.FlowsDone(), 0, "nothing happens");
    const bool both = facade.Decided() == std::vector<int64_t>{1, 2};
    NS_TEST_EXPECT_MSG_EQ(both, true, "those that decide");
    NS_TEST_EXPECT_MSG_EQ(facade.Decided().empty(), true, "once");
    facade.RunSlice(ALWAYS_PS, 1);
    NS_TEST_EXPECT_MSG_EQ(facade.FlowsDone(), 1, "it goes on");
}

TEST_CASE(g_suite, "rows in the past, with ids of others, or without a path are refused")
{
    const auto complaint = [](auto&& rows) {
        TestNetwork network;
        Begin(network, true);
        network.Switch(101); // with a host that nothing connects to the others
        network.Host(3);
        network.Link(3, 101);
        network.Build();
        network.GetFacade().RunSlice(ALWAYS_PS, 1);
        rows(network);
        return Refusal([&] { network.Append(); });
    };
    const auto expect = [&](const std::string& words, auto&& rows) {
        const std::string said = complaint(rows);
        NS_TEST_EXPECT_MSG_NE(said.find(words), std::string::npos, said);
    };
    expect("flows: flow 5: start_ps 4999999 is over, it is 5000000 ps",
           [](TestNetwork& network) { Message(network, 5, 0, 1, DECIDES_PS - 1); });
    expect("tasks: task 1: ids from 2 on are free",
           [](TestNetwork& network) { Barrier(network, 1, DECIDES_PS, false); });
    expect("no path from host 0 to host 3",
           [](TestNetwork& network) { Message(network, 5, 0, 3, DECIDES_PS); });
    expect("transport is 1, but there are 1 transports", [](TestNetwork& network) {
        network.Row("flows",
                    {{"flow", 5},
                     {"src", 0},
                     {"dst", 1},
                     {"bytes", 100},
                     {"start_ps", DECIDES_PS},
                     {"transport", 1}});
    });
    expect("there is no flow or task 0", [](TestNetwork& network) {
        Barrier(network, 7, DECIDES_PS, false);
        network.Row("dependencies", {{"flow", 7}, {"after", 0}});
    });
}

TEST_CASE(g_suite, "only barriers decide")
{
    TestNetwork network;
    network.Star(2);
    network.Transport();
    network.Row("tasks",
                {{"task", 1}, {"kind", 0}, {"node", 0}, {"duration_ps", 5}, {"decides", 1}});
    const std::string said = network.Complaint();
    NS_TEST_EXPECT_MSG_NE(said.find("only a barrier decides"), std::string::npos, said);
}

} // namespace

} // namespace tests
} // namespace ns3

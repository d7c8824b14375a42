// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/selective-answers.h"

namespace ns3
{
namespace tests
{

using namespace fabric;

static Suite g_suite{"fabric-selective-answers"};

namespace
{

constexpr uint32_t EVERY_BYTES = 400;

/// A destination that gets packets of 100 bytes.
struct Destination
{
    PacketWindow received;
    selective::Unanswered state;

    /// @return whether a packet is answered at once
    bool Gets(uint32_t packet, uint16_t flags = 0)
    {
        received.Add(packet);
        return selective::IsDue(state, Data(packet, flags), received, EVERY_BYTES);
    }

    static Frame Data(uint32_t packet, uint16_t flags)
    {
        Frame frame{};
        frame.packet = packet;
        frame.bytes = 100;
        frame.flags = flags;
        return frame;
    }
};

} // namespace

/// Oracle: by hand.
TEST_CASE(g_suite, "which packets are answered at once")
{
    Destination to;
    NS_TEST_EXPECT_MSG_EQ(to.Gets(0), true, "the first");
    NS_TEST_EXPECT_MSG_EQ(to.Gets(1), false, "100 bytes");
    NS_TEST_EXPECT_MSG_EQ(to.Gets(2), false, "200 bytes");
    NS_TEST_EXPECT_MSG_EQ(to.Gets(3), false, "300 bytes");
    NS_TEST_EXPECT_MSG_EQ(to.Gets(4), true, "400 bytes");
    NS_TEST_EXPECT_MSG_EQ(to.Gets(4), true, "a copy");
    NS_TEST_EXPECT_MSG_EQ(to.Gets(5, frame_flag::ECN_MARKED), true, "a marked one");
    NS_TEST_EXPECT_MSG_EQ(to.Gets(8, selective::ASKS), true, "one that asks");
    NS_TEST_EXPECT_MSG_EQ(to.Gets(7), false, "packet 6 is missing");
    NS_TEST_EXPECT_MSG_EQ(to.Gets(6), true, "nothing is missing before the one that asked");
    NS_TEST_EXPECT_MSG_EQ(to.Gets(9), false, "nobody has asked since");
}

/// Oracle: by hand. Packets 0, 1, 3, 5 and 70 have arrived, and the last is answered.
TEST_CASE(g_suite, "what a source learns of an answer")
{
    Destination to;
    for (const uint32_t packet : {0, 1, 3, 5, 70})
    {
        to.Gets(packet);
    }
    FrameNote note{};
    selective::Write(note, Destination::Data(70, 0), to.received);
    NS_TEST_EXPECT_MSG_EQ(note.words[selective::FROM], 7, "64 packets end with this one");
    NS_TEST_EXPECT_MSG_EQ(note.words[selective::BITMAP], uint64_t{1} << 63, "it is the last");
    NS_TEST_EXPECT_MSG_EQ(note.words[selective::COUNT], 5, "all of them");

    Outbound out;
    out.packets.Reset(100);
    for (uint32_t i = 0; i < 80; i++)
    {
        out.packets.Take();
    }
    Answer answer{};
    answer.cumulative = to.received.Base();
    answer.newPackets = out.packets.ArrivedBelow(answer.cumulative);
    const auto learn = [&out](uint32_t packet) { return out.packets.Arrived(packet); };
    selective::Read(out, &note, answer, learn);
    NS_TEST_EXPECT_MSG_EQ(answer.newPackets, 5, "3 and 5 are counted, and not known");
    NS_TEST_EXPECT_MSG_EQ(out.packets.NumArrived(), 3, "0, 1 and 70");
    NS_TEST_EXPECT_MSG_EQ(out.InFlight(), 75, "80 less 5");

    selective::Write(note, Destination::Data(5, selective::ASKS), to.received);
    NS_TEST_EXPECT_MSG_EQ(note.words[selective::FROM], 5, "it begins with the one that asks");
    Answer second{};
    second.cumulative = to.received.Base();
    selective::Read(out, &note, second, learn);
    NS_TEST_EXPECT_MSG_EQ(second.newPackets, 0, "5 was counted before");
    NS_TEST_EXPECT_MSG_EQ(out.InFlight(), 75, "no copy is counted twice");
}

} // namespace tests
} // namespace ns3

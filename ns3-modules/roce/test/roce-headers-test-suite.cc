// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/event-engine.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <vector>

namespace ns3
{
namespace tests
{

using namespace fabric;

static Suite g_suite{"roce-headers"};

/// Oracle: PSN and queue pair are the last 24 bits, written out by hand around the wrap.
class RoceNumbersWrapAt24Bits : public TestCase
{
  public:
    RoceNumbersWrapAt24Bits()
        : TestCase("packet sequence numbers and queue pairs have 24 bits")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint32_t WRAP = 1 << 24;
        FabricTables tables;
        constexpr int64_t LEAF = 2;
        tables.nodes.push_back({});
        tables.nodes[0].id = LEAF;
        tables.nodes[0].isSwitch = true;
        tables.nodes[0].tier = 1;
        for (const int64_t host : {0, 1})
        {
            tables.nodes.emplace_back().id = host;
            auto& link = tables.links.emplace_back();
            link.nodeA = host;
            link.nodeB = LEAF;
            link.rateBps = 100'000'000'000;
            link.delayPs = 1'000'000;
        }
        auto& flow = tables.flows.emplace_back();
        flow.id = WRAP + 7;
        flow.dst = 1;
        flow.bytes = WRAP + 100; // of one byte each
        FabricOptions options;
        options.transports.emplace_back("ns3::RoceTransport", "MtuBytes", UintegerValue(1));
        const EventEngine net(tables, options);

        Frame frame{};
        frame.packet = WRAP + 5;
        frame.bytes = 64;
        ExpectEnd(net, frame, {0, 0, 0, 9, 0x80, 0, 0, 5}); // queue pair: flow + 2; ACK request
        frame.packet = WRAP - 1;
        ExpectEnd(net, frame, {0, 0, 0, 9, 0x80, 0xff, 0xff, 0xff});
        frame.kind = frame_kind::CONTROL; // ACK of all before aux
        frame.flags = frame_flag::REVERSE;
        frame.aux = WRAP;
        ExpectEnd(net, frame, {0xff, 0xff, 0xff, 0x1f, 0, 0, 0});
        frame.aux = WRAP + 1;
        ExpectEnd(net, frame, {0, 0, 0, 0x1f, 0, 0, 0});
        frame.aux = WRAP + 100; // all
        ExpectEnd(net, frame, {0, 0, 99, 0x1f, 0, 0, 1});
        frame.kind = frame_kind::CONTROL + 1; // NAK of aux
        frame.aux = WRAP + 1;
        ExpectEnd(net, frame, {0, 0, 1, 0x60, 0, 0, 0});
    }

    void ExpectEnd(const EventEngine& net, const Frame& frame, const std::vector<uint8_t>& end)
    {
        const WireBytes bytes = net.View().DescribeFrame(frame).headers;
        NS_TEST_ASSERT_MSG_GT_OR_EQ(bytes.Size(), end.size(), "long enough");
        const uint8_t* last = bytes.Data() + bytes.Size() - end.size();
        const bool equal = std::equal(end.begin(), end.end(), last);
        NS_TEST_EXPECT_MSG_EQ(equal, true, "packet " << frame.packet << ", aux " << frame.aux);
    }
};

ADD_CASES(g_suite)
{
    suite.Add(new RoceNumbersWrapAt24Bits);
}

} // namespace tests
} // namespace ns3

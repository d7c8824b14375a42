// SPDX-License-Identifier: GPL-2.0-only

#include "test-case.h"

#include "ns3/event-queue.h"
#include "ns3/fabric-simulator-impl.h"
#include "ns3/global-value.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-generator.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/node-container.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/udp-echo-helper.h"
#include "ns3/uinteger.h"

#include <fstream>
#include <sstream>
#include <unistd.h>

namespace ns3
{
namespace tests
{

namespace
{

/// What a run of stock models left behind.
struct StockRun
{
    std::string ascii;
    std::string pcap;
    uint64_t events;
    int64_t endTs;
};

std::string
Contents(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// Two clients behind one slow link send to an echo server, with collisions and a full queue.
StockRun
RunEcho(const std::string& simulator, const std::string& pcapPrefix)
{
    GlobalValue::Bind("SimulatorImplementationType", StringValue(simulator));
    RngSeedManager::SetSeed(1);
    RngSeedManager::ResetNextStreamIndex();
    Ipv4AddressGenerator::Reset();
    Mac48Address::ResetAllocationIndex();

    NodeContainer nodes(4); // clients 0 and 1, router 2, server 3
    PointToPointHelper links;
    links.SetDeviceAttribute("DataRate", StringValue("5Mbps"));
    links.SetChannelAttribute("Delay", StringValue("2ms"));
    links.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("3p"));
    links.DisableFlowControl(); // or the full queue would push back instead of dropping
    const auto first = links.Install(nodes.Get(0), nodes.Get(2));
    const auto second = links.Install(nodes.Get(1), nodes.Get(2));
    links.SetDeviceAttribute("DataRate", StringValue("1Mbps"));
    const auto last = links.Install(nodes.Get(2), nodes.Get(3));
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper("10.1.1.0", "255.255.255.0").Assign(first);
    Ipv4AddressHelper("10.1.2.0", "255.255.255.0").Assign(second);
    const auto server = Ipv4AddressHelper("10.1.3.0", "255.255.255.0").Assign(last);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    auto apps = UdpEchoServerHelper(9).Install(nodes.Get(3));
    UdpEchoClientHelper client(server.GetAddress(1), 9);
    client.SetAttribute("MaxPackets", UintegerValue(40));
    client.SetAttribute("Interval", TimeValue(MilliSeconds(5)));
    client.SetAttribute("PacketSize", UintegerValue(1024));
    apps.Add(client.Install(nodes.Get(0)));
    apps.Add(client.Install(nodes.Get(1)));
    apps.Start(MilliSeconds(10)); // both clients at the same instant
    apps.Stop(Seconds(2));

    std::ostringstream trace;
    links.EnableAsciiAll(Create<OutputStreamWrapper>(&trace));
    links.EnablePcap(pcapPrefix, nodes.Get(3)->GetDevice(0), false, true);
    Simulator::Stop(Seconds(3));
    Simulator::Run();
    StockRun run{trace.str(), "", Simulator::GetEventCount(), Simulator::Now().GetTimeStep()};
    Simulator::Destroy();
    run.pcap = Contents(pcapPrefix);
    return run;
}

} // namespace

static Suite g_suite{"fabric-stock-models", TestSuite::Type::SYSTEM};

/// Oracle: ns-3's own simulator. Same traces, same number of events, same end.
class StockEchoIsUnchanged : public TestCase
{
  public:
    StockEchoIsUnchanged()
        : TestCase("UDP echo over point-to-point links, on ns-3's simulator and on ours")
    {
    }

  private:
    /// A file of this process: two runners started in one second share their temporary folder.
    std::string OwnFile(const std::string& name)
    {
        return CreateTempDirFilename(std::to_string(getpid()) + "-" + name);
    }

    void DoRun() override
    {
        if (Time::GetResolution() != Time::PS)
        {
            Time::SetResolution(Time::PS); // as in every run of the engine
        }
        const auto stock = RunEcho("ns3::DefaultSimulatorImpl", OwnFile("default.pcap"));
        const auto ours = RunEcho("ns3::FabricSimulatorImpl", OwnFile("ours.pcap"));
        NS_TEST_ASSERT_MSG_GT(stock.events, 400, "the reference run does something");
        NS_TEST_ASSERT_MSG_GT(stock.pcap.size(), 20'000, "the reference run wrote packets");
        NS_TEST_EXPECT_MSG_NE(stock.ascii.find("\nd "), std::string::npos, "and dropped some");
        NS_TEST_EXPECT_MSG_EQ((ours.ascii == stock.ascii), true, "ASCII trace");
        NS_TEST_EXPECT_MSG_EQ((ours.pcap == stock.pcap), true, "pcap");
        NS_TEST_EXPECT_MSG_EQ(ours.events, stock.events, "events");
        NS_TEST_EXPECT_MSG_EQ(ours.endTs, stock.endTs, "end of the run");
    }
};

/// Oracle: the contract of Simulator, as ns-3's own simulator keeps it.
class SimulatorKeepsItsContract : public TestCase
{
  public:
    SimulatorKeepsItsContract()
        : TestCase("order of events, cancel, remove, stop, contexts, destroy events")
    {
    }

  private:
    std::string Script(const std::string& simulator)
    {
        GlobalValue::Bind("SimulatorImplementationType", StringValue(simulator));
        std::ostringstream log;
        const auto say = [&log](const char* what) {
            log << Simulator::Now().GetTimeStep() << "/" << Simulator::GetContext() << " " << what
                << "; ";
        };
        Simulator::Schedule(NanoSeconds(5), [&] { say("second of 5"); });
        const auto cancelled = Simulator::Schedule(NanoSeconds(5), [&] { say("cancelled"); });
        const auto removed = Simulator::Schedule(NanoSeconds(6), [&] { say("removed"); });
        Simulator::Schedule(NanoSeconds(5), [&] {
            say("third of 5");
            Simulator::ScheduleNow([&] { say("now, after all of 5"); });
            Simulator::ScheduleWithContext(7, NanoSeconds(1), [&] { say("in context 7"); });
        });
        Simulator::Schedule(NanoSeconds(1), [&] {
            say("first");
            Simulator::Cancel(cancelled);
            Simulator::Remove(removed);
            log << cancelled.IsExpired() << removed.IsExpired()
                << Simulator::GetDelayLeft(cancelled).GetTimeStep() << "; ";
        });
        Simulator::ScheduleDestroy([&] { log << "destroyed; "; });
        Simulator::Schedule(NanoSeconds(20), [&] { say("beyond the stop"); });
        Simulator::Stop(NanoSeconds(10));
        Simulator::Run();
        log << Simulator::Now().GetTimeStep() << " " << Simulator::GetEventCount() << " "
            << Simulator::IsFinished() << "; ";
        Simulator::Run(); // goes on after a stop
        log << Simulator::Now().GetTimeStep() << " " << Simulator::IsFinished() << "; ";
        Simulator::Destroy();
        return log.str();
    }

    void DoRun() override
    {
        const auto stock = Script("ns3::DefaultSimulatorImpl");
        NS_TEST_EXPECT_MSG_EQ(Script("ns3::FabricSimulatorImpl"), stock, "the same story");
    }
};

ADD_CASES(g_suite)
{
    suite.Add(new StockEchoIsUnchanged);
    suite.Add(new SimulatorKeepsItsContract);
}

} // namespace tests
} // namespace ns3

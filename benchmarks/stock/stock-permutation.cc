// SPDX-License-Identifier: GPL-2.0-only
//
// The permutation of benchmarks/engine.py on stock ns-3: nodes, PointToPointNetDevices and
// ns3::Packets, forwarded in the device's receive callback. No IP stack, which would only cost
// more. Prints one line of JSON.

#include "message-header.h"
#include "permutation-host.h"
#include "permutation-switch.h"

#include "ns3/command-line.h"
#include "ns3/data-rate.h"
#include "ns3/node-container.h"
#include "ns3/nstime.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <fstream>
#include <iostream>
#include <memory>
#include <sys/resource.h>

using namespace ns3;

namespace
{

/// Sizes of a two-tier leaf-spine.
struct Shape
{
    uint32_t leaves{16};
    uint32_t hostsPerLeaf{8};
    uint32_t spines{16};
};

/// The switches of a fabric, and what keeps its hosts.
struct Network
{
    std::vector<std::unique_ptr<PermutationHost>> hosts;
    std::vector<std::unique_ptr<PermutationSwitch>> leaves;
    std::vector<std::unique_ptr<PermutationSwitch>> spines;
};

/// @return user CPU time of this process so far [s]
double
UserSeconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_utime.tv_usec * 1e-6;
}

/// @return peak resident memory of this process so far [byte]
uint64_t
PeakMemoryBytes()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024ULL;
}

/// @return the numbers of a file that has one per line, `expected` in all
std::vector<uint32_t>
ReadNumbers(const std::string& path, uint32_t expected)
{
    std::vector<uint32_t> numbers;
    std::ifstream file(path);
    for (uint32_t number; file >> number;)
    {
        numbers.push_back(number);
    }
    NS_ABORT_MSG_IF(numbers.size() != expected,
                    path << ": has " << numbers.size() << " numbers, not " << expected);
    return numbers;
}

/// Makes links, each with a delay of its own.
class Cables
{
  public:
    /**
     * @param link makes them
     * @param delaysPs of the links in the order in which they are made [ps]
     */
    Cables(PointToPointHelper& link, const std::vector<uint32_t>& delaysPs)
        : m_link(link),
          m_delaysPs(delaysPs)
    {
    }

    NetDeviceContainer Install(Ptr<Node> a, Ptr<Node> b)
    {
        m_link.SetChannelAttribute("Delay", TimeValue(PicoSeconds(m_delaysPs[m_installed++])));
        return m_link.Install(a, b);
    }

  private:
    PointToPointHelper& m_link;
    const std::vector<uint32_t>& m_delaysPs;
    uint32_t m_installed{0};
};

Network
BuildNetwork(const Shape& shape,
             Cables link,
             const std::vector<uint32_t>& peers,
             const PermutationHost::Message& message)
{
    Network network;
    NodeContainer hostNodes(shape.leaves * shape.hostsPerLeaf);
    NodeContainer leafNodes(shape.leaves);
    NodeContainer spineNodes(shape.spines);
    for (uint32_t i = 0; i < shape.leaves; i++)
    {
        network.leaves.push_back(std::make_unique<PermutationSwitch>(i));
    }
    for (uint32_t i = 0; i < shape.spines; i++)
    {
        network.spines.push_back(std::make_unique<PermutationSwitch>(shape.leaves + i));
    }
    for (uint32_t host = 0; host < hostNodes.GetN(); host++)
    {
        const auto leaf = host / shape.hostsPerLeaf;
        const auto devices = link.Install(hostNodes.Get(host), leafNodes.Get(leaf));
        network.hosts.push_back(
            std::make_unique<PermutationHost>(devices.Get(0), host, peers[host], message));
        network.leaves[leaf]->AddHosts(devices.Get(1), host, 1);
    }
    for (uint32_t leaf = 0; leaf < shape.leaves; leaf++)
    {
        for (uint32_t spine = 0; spine < shape.spines; spine++)
        {
            const auto devices = link.Install(leafNodes.Get(leaf), spineNodes.Get(spine));
            network.leaves[leaf]->AddUplink(devices.Get(0));
            network.spines[spine]->AddHosts(devices.Get(1),
                                            leaf * shape.hostsPerLeaf,
                                            shape.hostsPerLeaf);
        }
    }
    return network;
}

} // namespace

int
main(int argc, char* argv[])
{
    Shape shape;
    PermutationHost::Message message{.packets = 500, .payloadBytes = 4096, .window = 128};
    bool flowControl = true;
    std::string peersFile;
    std::string delaysFile;
    CommandLine cmd(__FILE__);
    cmd.AddValue("leaves", "leaf switches", shape.leaves);
    cmd.AddValue("hostsPerLeaf", "hosts below a leaf", shape.hostsPerLeaf);
    cmd.AddValue("spines", "spine switches", shape.spines);
    cmd.AddValue("packets", "data packets of a message", message.packets);
    cmd.AddValue("flowControl", "PointToPointHelper's default between device and queue",
                 flowControl);
    cmd.AddValue("peers", "file with the destination of each host", peersFile);
    cmd.AddValue("delays", "file with the delay of each link [ps]: hosts, then leaf by leaf",
                 delaysFile);
    cmd.Parse(argc, argv);

    Time::SetResolution(Time::PS); // 64 bytes at 800 Gb/s last 640 ps
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("800Gbps"));
    link.SetDeviceAttribute("Mtu", UintegerValue(9000));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1000000p")); // no loss
    if (!flowControl)
    {
        link.DisableFlowControl();
    }
    const auto hosts = shape.leaves * shape.hostsPerLeaf;
    const auto delaysPs = ReadNumbers(delaysFile, hosts + shape.leaves * shape.spines);
    auto network =
        BuildNetwork(shape, Cables(link, delaysPs), ReadNumbers(peersFile, hosts), message);

    const auto builtBytes = PeakMemoryBytes();
    const auto startSeconds = UserSeconds();
    for (auto& host : network.hosts)
    {
        host->Start();
    }
    Simulator::Run();
    const auto runSeconds = UserSeconds() - startSeconds;

    uint64_t received = 0;
    uint64_t acked = 0;
    for (const auto& host : network.hosts)
    {
        received += host->GetReceived();
        acked += host->GetAcked();
    }
    const uint64_t expected = static_cast<uint64_t>(hosts) * message.packets;
    NS_ABORT_MSG_IF(received != expected || acked != expected,
                    "received " << received << " and acked " << acked << " of " << expected);
    std::cout << "{\"packets\": " << received << ", \"run_cpu_s\": " << runSeconds
              << ", \"peak_memory_bytes\": " << PeakMemoryBytes()
              << ", \"built_memory_bytes\": " << builtBytes
              << ", \"events\": " << Simulator::GetEventCount()
              << ", \"simulated_ps\": " << Simulator::Now().GetPicoSeconds() << "}\n";
    Simulator::Destroy();
    return 0;
}

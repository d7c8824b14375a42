// SPDX-License-Identifier: GPL-2.0-only

#include "episode-recording.h"

#include "fabric.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ns3
{
namespace fabric
{

EpisodeRecording::EpisodeRecording(Fabric& fabric, const Island& island)
    : m_fabric(&fabric),
      m_island(&island),
      m_startPs(fabric.NowPs()),
      m_before(Counters())
{
    FabricNetwork& network = fabric.m_network;
    for (const PortId id : island.ports)
    {
        network.ports[id].maxQueuedBytes = 0;
    }
    for (const uint32_t node : island.switches)
    {
        m_maxUsedBytes.push_back(std::exchange(network.nodes[node].maxUsedBytes, 0));
    }
}

void
EpisodeRecording::Add(uint32_t message)
{
    m_messages.push_back(message);
}

std::vector<EpisodePort>
EpisodeRecording::Counters() const
{
    std::vector<EpisodePort> counters;
    for (const PortId id : m_island->ports)
    {
        const Port& port = m_fabric->m_ports[id];
        counters.push_back({port.sentFrames,
                            port.sentBytes,
                            port.sentControl,
                            port.receivedFrames,
                            m_fabric->m_network.counters[id].marked,
                            port.maxQueuedBytes});
    }
    return counters;
}

void
EpisodeRecording::RestorePeaks()
{
    for (size_t i = 0; i < m_island->ports.size(); i++)
    {
        uint64_t& peak = m_fabric->m_ports[m_island->ports[i]].maxQueuedBytes;
        peak = std::max(peak, m_before[i].maxQueuedBytes);
    }
    for (size_t i = 0; i < m_island->switches.size(); i++)
    {
        uint64_t& peak = m_fabric->m_network.nodes[m_island->switches[i]].maxUsedBytes;
        peak = std::max(peak, m_maxUsedBytes[i]);
    }
}

std::optional<EpisodeMessage>
EpisodeRecording::Written(uint32_t index) const
{
    const Message& message = m_fabric->m_messages[index];
    if (message.retransmittedPackets || message.trimmedPackets || message.timeouts || message.naks)
    {
        return std::nullopt;
    }
    return EpisodeMessage{{message.startPs - m_startPs,
                           m_island->PlaceOfHost(message.src),
                           m_island->PlaceOfHost(message.dst),
                           message.bytes,
                           message.transport},
                          *message.receiverEndPs - m_startPs,
                          *message.senderEndPs - m_startPs,
                          message.sentPackets,
                          message.markedPackets,
                          message.outOfOrderPeak};
}

std::optional<Episode>
EpisodeRecording::Written() const
{
    Episode episode;
    for (const uint32_t index : m_messages)
    {
        const auto message = Written(index);
        if (!message)
        {
            return std::nullopt;
        }
        episode.packets += message->sentPackets;
        episode.lengthPs = std::max(episode.lengthPs, message->acknowledgedPs);
        episode.messages.push_back(*message);
    }
    std::ranges::stable_sort(episode.messages, [](const auto& a, const auto& b) {
        return std::tie(a.start.afterPs, a.start.src) < std::tie(b.start.afterPs, b.start.src);
    });
    episode.ports = Counters();
    for (size_t i = 0; i < episode.ports.size(); i++)
    {
        EpisodePort& its = episode.ports[i];
        its.sentFrames -= m_before[i].sentFrames;
        its.sentBytes -= m_before[i].sentBytes;
        its.sentControl -= m_before[i].sentControl;
        its.receivedFrames -= m_before[i].receivedFrames;
        its.marked -= m_before[i].marked;
    }
    for (const uint32_t node : m_island->switches)
    {
        episode.maxUsedBytes.push_back(m_fabric->m_network.nodes[node].maxUsedBytes);
    }
    return episode;
}

void
EpisodeRecording::Count(Fabric& fabric,
                        const Island& island,
                        const Episode& episode,
                        uint64_t times)
{
    FabricNetwork& network = fabric.m_network;
    for (size_t i = 0; i < island.ports.size(); i++)
    {
        Port& port = network.ports[island.ports[i]];
        const EpisodePort& its = episode.ports[i];
        port.sentFrames += times * its.sentFrames;
        port.sentBytes += times * its.sentBytes;
        port.sentControl += times * its.sentControl;
        port.receivedFrames += times * its.receivedFrames;
        port.maxQueuedBytes = std::max(port.maxQueuedBytes, its.maxQueuedBytes);
        network.counters[island.ports[i]].marked += times * its.marked;
    }
    for (size_t i = 0; i < island.switches.size(); i++)
    {
        uint64_t& peak = network.nodes[island.switches[i]].maxUsedBytes;
        peak = std::max(peak, episode.maxUsedBytes[i]);
    }
}

} // namespace fabric
} // namespace ns3

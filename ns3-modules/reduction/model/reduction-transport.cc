// SPDX-License-Identifier: GPL-2.0-only

#include "reduction-transport.h"

#include "ns3/deadlines.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("ReductionTransport");
NS_OBJECT_ENSURE_REGISTERED(ReductionTransport);

namespace
{

constexpr uint32_t MOST_DOUBLINGS = 6; ///< Of Rto, by timeouts in a row

} // namespace

TypeId
ReductionTransport::GetTypeId()
{
    using This = ReductionTransport;
    static TypeId tid =
        TypeId("ns3::ReductionTransport")
            .SetParent<Transport>()
            .SetGroupName("Reduction")
            .AddConstructor<This>()
            .AddAttribute("MtuBytes",
                          "Payload of a chunk [byte]",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&This::m_mtuBytes),
                          MakeUintegerChecker<uint32_t>(1, 32768))
            .AddAttribute("HeaderBytes",
                          "Headers and checksums of each chunk [byte]",
                          UintegerValue(62),
                          MakeUintegerAccessor(&This::m_headerBytes),
                          MakeUintegerChecker<uint32_t>(1, 1024))
            .AddAttribute("Window",
                          "Most chunks of a rank without a result, and slots that its group asks "
                          "of every switch [packet]",
                          UintegerValue(128),
                          MakeUintegerAccessor(&This::m_window),
                          MakeUintegerChecker<uint32_t>(1, 1 << 20))
            .AddAttribute("Rto",
                          "A chunk without a result is sent again after this time",
                          TimeValue(MilliSeconds(1)),
                          MakeTimeAccessor(&This::m_rto),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("RequestBytes",
                          "Frame by which rank 0 asks for a result, headers included [byte]",
                          UintegerValue(66),
                          MakeUintegerAccessor(&This::m_requestBytes),
                          MakeUintegerChecker<uint32_t>(64, 1024))
            .AddAttribute("Priority",
                          "Priority of chunks and results",
                          UintegerValue(3),
                          MakeUintegerAccessor(&This::m_priority),
                          MakeUintegerChecker<uint8_t>(0, 7))
            .AddAttribute("ControlPriority",
                          "Priority of requests",
                          UintegerValue(6),
                          MakeUintegerAccessor(&This::m_controlPriority),
                          MakeUintegerChecker<uint8_t>(0, 7));
    return tid;
}

void
ReductionTransport::DoAttach()
{
    m_rtoPs = static_cast<uint64_t>(m_rto.GetPicoSeconds());
    m_cut = {.mtuBytes = m_mtuBytes, .headerBytes = m_headerBytes};
}

std::optional<uint16_t>
ReductionTransport::SinglePathEntropy(uint32_t) const
{
    return std::nullopt;
}

uint32_t
ReductionTransport::HostOf(const Operation& operation, uint32_t rank) const
{
    return Host().GetMessage(operation.group.first + rank).src;
}

/// @return the reduction that a message is part of, with this host's place in it
ReductionTransport::Operation&
ReductionTransport::Find(uint32_t message)
{
    if (!m_groups)
    {
        const auto at = [this](uint32_t i) -> const Message& { return Host().GetMessage(i); };
        m_groups.emplace(Host().NumMessages(), at, at(message).transport);
    }
    const uint32_t index = m_groups->GroupOf(message).value();
    const auto [found, isNew] = m_operations.try_emplace(index);
    Operation& operation = found->second;
    if (isNew)
    {
        operation.group = (*m_groups)[index];
        while (HostOf(operation, operation.rank) != Host().Host())
        {
            operation.rank++;
        }
        operation.chunks = m_cut.Packets(Host().GetMessage(message).bytes);
        // The same plane for all: they have their planes in the same order.
        const uint32_t other = HostOf(operation, operation.rank == 0 ? 1 : 0);
        const uint32_t plane = index % Host().NumServing(other);
        PortId port = Host().FirstPort();
        for (uint32_t passed = 0; !Host().Serves(port, other) || passed++ < plane;)
        {
            port++;
        }
        operation.port = port;
    }
    return operation;
}

void
ReductionTransport::StartMessage(uint32_t message)
{
    NS_LOG_FUNCTION(this << message);
    Operation& operation = Find(message);
    operation.progressPs = Host().NowPs();
    const uint32_t group = m_groups->GroupOf(message).value();
    m_active.push_back(group);
    Host().SetTimer(Host().NowPs() + m_rtoPs, group);
    Host().Kick();
}

FrameId
ReductionTransport::NextFrame(PortId port, const NicState& nic)
{
    if (!nic.Takes(m_priority))
    {
        return NO_FRAME;
    }
    for (auto extra = m_extra.begin(); extra != m_extra.end(); ++extra)
    {
        const Operation& operation = m_operations.at(extra->group);
        if (operation.port == port)
        {
            const FrameId id = Make(operation, *extra);
            m_extra.erase(extra);
            return id;
        }
    }
    for (size_t left = m_active.size(); left > 0; left--)
    {
        const uint32_t group = m_active.front();
        Operation& operation = m_operations.at(group);
        m_active.pop_front();
        if (operation.next == operation.chunks)
        {
            continue;
        }
        m_active.push_back(group);
        if (operation.port == port && operation.next < operation.have.Base() + m_window)
        {
            return Make(operation, {group, operation.next++, 0, 0});
        }
    }
    return NO_FRAME;
}

/// @return a frame of data: a part of this rank, or a result
FrameId
ReductionTransport::Make(const Operation& operation, const Extra& extra)
{
    const FrameId id = Host().AllocateFrame();
    const auto& group = operation.group;
    const bool isToOne =
        (extra.flags & reduction_flag::RESULT) && !(extra.flags & reduction_flag::MULTICAST);
    FrameNote& note = Host().Note(id);
    RankSet::Of(operation.rank).Store(note.words);
    note.switchWord = operation.chunks;
    Frame& frame = Host().GetFrame(id);
    frame.message =
        isToOne ? ReductionGroups::ResultOf(group, extra.rank) : group.first + operation.rank;
    frame.dst = HostOf(operation, isToOne ? extra.rank : 0);
    frame.packet = extra.chunk;
    frame.aux = m_window;
    frame.flags = extra.flags;
    frame.entropy = 0;
    frame.bytes = m_cut.FrameBytes(Host().GetMessage(group.first).bytes, extra.chunk);
    frame.kind = frame_kind::DATA;
    frame.priority = m_priority;
    return id;
}

void
ReductionTransport::Receive(FrameId id, PortId)
{
    const Frame frame = Host().GetFrame(id);
    const FrameNote* note = Host().FindNote(id);
    const RankSet ranks = note ? RankSet(note->words) : RankSet();
    Host().FreeFrame(id);
    Operation& operation = Find(frame.message);
    const uint32_t group = m_groups->GroupOf(frame.message).value();
    if (frame.kind != frame_kind::DATA) // a request of rank 0
    {
        if (operation.have.Contains(frame.packet))
        {
            m_extra.push_back({group, frame.packet, reduction_flag::RESULT, 0});
            Host().Kick();
        }
    }
    else if (frame.flags & reduction_flag::RESULT)
    {
        Finish(operation, frame.packet);
    }
    else
    {
        Contribute(operation, {group, frame.packet, frame.flags, 0}, ranks);
    }
}

/// Rank 0 adds up what switches have not.
void
ReductionTransport::Contribute(Operation& operation, const Extra& extra, const RankSet& ranks)
{
    if (operation.have.Contains(extra.chunk))
    {
        const uint32_t rank = ranks.First();
        if ((extra.flags & frame_flag::RETRANSMITTED) && rank != operation.rank)
        {
            m_extra.push_back({extra.group, extra.chunk, reduction_flag::RESULT, rank});
            Host().Kick();
        }
        return;
    }
    RankSet& sum = operation.sums[extra.chunk];
    if (sum.Meets(ranks))
    {
        return; // a copy, or a sum that has one in it: what is missing comes again by itself
    }
    sum |= ranks;
    if (sum == RankSet::All(operation.group.ranks))
    {
        operation.sums.erase(extra.chunk);
        m_extra.push_back(
            {extra.group, extra.chunk, reduction_flag::RESULT | reduction_flag::MULTICAST, 0});
        Finish(operation, extra.chunk);
    }
}

/// The result of a chunk is here.
void
ReductionTransport::Finish(Operation& operation, uint32_t chunk)
{
    if (!operation.have.Add(chunk))
    {
        return;
    }
    operation.progressPs = Host().NowPs();
    operation.timeouts = 0;
    if (operation.have.Base() == operation.chunks)
    {
        Host().Delivered(ReductionGroups::ResultOf(operation.group, operation.rank));
    }
    Host().Kick();
}

/// @return when its chunks without a result are sent again [ps]
uint64_t
ReductionTransport::DuePs(const Operation& operation) const
{
    return Later(operation.progressPs, m_rtoPs, std::min(operation.timeouts, MOST_DOUBLINGS));
}

void
ReductionTransport::OnTimer(uint32_t token)
{
    Operation& operation = m_operations.at(token);
    if (operation.have.Base() == operation.chunks)
    {
        return;
    }
    if (Host().NowPs() >= DuePs(operation))
    {
        Repeat(token, operation);
    }
    Host().SetTimer(DuePs(operation), token);
}

/// Send again what has no result; rank 0 asks one of the others for it, each time another one.
void
ReductionTransport::Repeat(uint32_t groupIndex, Operation& operation)
{
    const auto& group = operation.group;
    Host().GetMessage(group.first + operation.rank).timeouts++;
    const uint32_t asked = 1 + operation.timeouts++ % (group.ranks - 1);
    operation.progressPs = Host().NowPs();
    for (uint32_t chunk = operation.have.Base(); chunk < operation.next; chunk++)
    {
        if (operation.have.Contains(chunk))
        {
            continue;
        }
        m_extra.push_back({groupIndex, chunk, frame_flag::RETRANSMITTED, 0});
        if (operation.rank == 0)
        {
            const FrameId id = Host().AllocateFrame();
            Frame& frame = Host().GetFrame(id);
            frame.message = ReductionGroups::ResultOf(group, asked);
            frame.dst = HostOf(operation, asked);
            frame.packet = chunk;
            frame.bytes = static_cast<uint16_t>(m_requestBytes);
            frame.kind = frame_kind::CONTROL;
            frame.priority = m_controlPriority;
            Host().SendControl(id, operation.port);
        }
    }
    Host().Kick();
}

} // namespace ns3

// SPDX-License-Identifier: GPL-2.0-only

#include "max-min.h"

#include "ns3/assert.h"

#include <algorithm>
#include <functional>

namespace ns3
{

namespace
{

/// Rates and loads that differ by less than this part are taken for equal.
constexpr double TOLERANCE = 1e-11;

bool
Above(double a, double b)
{
    return a > b * (1 + TOLERANCE);
}

} // namespace

MaxMin::MaxMin(std::vector<double> capacities)
{
    m_links.reserve(capacities.size());
    for (const double capacity : capacities)
    {
        m_links.push_back({.capacity = capacity, .members = {}});
    }
}

void
MaxMin::MarkDirty(uint32_t link)
{
    if (!m_links[link].dirty)
    {
        m_links[link].dirty = true;
        m_dirty.push_back(link);
    }
}

void
MaxMin::SetCapacity(uint32_t link, double capacity)
{
    if (m_links[link].capacity != capacity)
    {
        m_links[link].capacity = capacity;
        MarkDirty(link);
    }
}

uint32_t
MaxMin::Add(std::vector<Use> uses)
{
    NS_ASSERT_MSG(!uses.empty(), "a flow without links has no rate");
    if (m_free.empty())
    {
        m_free.push_back(static_cast<uint32_t>(m_flows.size()));
        m_flows.emplace_back();
    }
    const uint32_t index = m_free.back();
    m_free.pop_back();
    Flow& flow = m_flows[index];
    flow = {};
    flow.alive = true;
    flow.uses = std::move(uses);
    flow.places.reserve(flow.uses.size());
    for (uint32_t use = 0; use < flow.uses.size(); use++)
    {
        auto& members = m_links[flow.uses[use].link].members;
        flow.places.push_back(static_cast<uint32_t>(members.size()));
        members.push_back({index, use});
        MarkDirty(flow.uses[use].link);
    }
    m_new.push_back(index);
    return index;
}

void
MaxMin::Remove(uint32_t index)
{
    Flow& flow = m_flows[index];
    NS_ASSERT_MSG(flow.alive, "a flow is removed once");
    for (uint32_t use = 0; use < flow.uses.size(); use++)
    {
        auto& members = m_links[flow.uses[use].link].members;
        const Member last = members.back();
        members[flow.places[use]] = last;
        m_flows[last.flow].places[last.use] = flow.places[use];
        members.pop_back();
        MarkDirty(flow.uses[use].link);
    }
    flow.alive = false;
    flow.rate = 0;
    m_free.push_back(index);
}

void
MaxMin::Join(uint32_t index)
{
    Flow& flow = m_flows[index];
    if (flow.alive && flow.round != m_regionRound)
    {
        flow.round = m_regionRound;
        m_region.push_back(index);
    }
}

/// Flows that have come, and those that a changed link holds back, or that now may hold others.
void
MaxMin::Begin()
{
    m_regionRound++;
    m_region.clear();
    for (const uint32_t flow : m_new)
    {
        Join(flow);
    }
    m_new.clear();
    for (const uint32_t index : m_dirty)
    {
        Link& link = m_links[index];
        link.dirty = false;
        double weight = 0;
        for (const Member member : link.members)
        {
            weight += m_flows[member.flow].uses[member.use].share;
        }
        for (const Member member : link.members)
        {
            const Flow& flow = m_flows[member.flow];
            if (flow.bottleneck == index || flow.rate * weight > link.capacity)
            {
                Join(member.flow);
            }
        }
    }
    m_dirty.clear();
}

/// What is left of the links of the region when the flows outside of it keep their rates.
void
MaxMin::OpenLinks()
{
    m_round++;
    m_touched.clear();
    for (const uint32_t index : m_region)
    {
        Flow& flow = m_flows[index];
        flow.frozen = false;
        for (const Use& use : flow.uses)
        {
            Link& link = m_links[use.link];
            if (link.round != m_round)
            {
                link.round = m_round;
                link.weight = 0;
                link.open = 0;
                link.level = -1;
                link.highest = 0;
                m_touched.push_back(use.link);
            }
            link.weight += use.share;
            link.open++;
        }
    }
    for (const uint32_t index : m_touched)
    {
        Link& link = m_links[index];
        double taken = 0;
        for (const Member member : link.members)
        {
            const Flow& flow = m_flows[member.flow];
            if (flow.round != m_regionRound)
            {
                taken += flow.rate * flow.uses[member.use].share;
            }
        }
        link.room = std::max(0.0, link.capacity - taken);
    }
}

void
MaxMin::Freeze(uint32_t index, double level)
{
    m_links[index].level = level;
    for (const Member member : m_links[index].members)
    {
        Flow& flow = m_flows[member.flow];
        if (flow.round != m_regionRound || flow.frozen)
        {
            continue;
        }
        flow.frozen = true;
        flow.next = level;
        flow.nextBottleneck = index;
        for (const Use& use : flow.uses)
        {
            Link& link = m_links[use.link];
            link.room = std::max(0.0, link.room - level * use.share);
            link.weight -= use.share;
            link.open--;
            link.highest = std::max(link.highest, level);
        }
    }
}

/// Raise all rates together; who crosses a link that is full stays behind.
void
MaxMin::Fill()
{
    m_filled += m_region.size();
    m_heap.clear();
    for (const uint32_t index : m_touched)
    {
        m_heap.emplace_back(m_links[index].room / m_links[index].weight, index);
    }
    const std::greater<> later;
    std::make_heap(m_heap.begin(), m_heap.end(), later);
    double level = 0;
    while (!m_heap.empty())
    {
        std::pop_heap(m_heap.begin(), m_heap.end(), later);
        const auto [offered, index] = m_heap.back();
        m_heap.pop_back();
        Link& link = m_links[index];
        if (link.open == 0)
        {
            continue;
        }
        const double now = link.room / link.weight;
        if (now > offered && !m_heap.empty() && now > m_heap.front().first)
        {
            m_heap.emplace_back(now, index); // flows that stayed behind elsewhere left it room
            std::push_heap(m_heap.begin(), m_heap.end(), later);
            continue;
        }
        level = std::max(level, now); // levels never fall but by rounding
        Freeze(index, level);
    }
}

/**
 * Take flows into the region that can no longer keep their rates.
 * @return whether there are any
 */
bool
MaxMin::Grow()
{
    const size_t before = m_region.size();
    for (const uint32_t index : m_touched)
    {
        const Link& link = m_links[index];
        double load = 0;
        for (const Member member : link.members)
        {
            const Flow& flow = m_flows[member.flow];
            const bool inside = flow.round == m_regionRound && flow.frozen;
            load += (inside ? flow.next : flow.rate) * flow.uses[member.use].share;
        }
        const bool full = !Above(link.capacity, load);
        for (const Member member : link.members)
        {
            const Flow& flow = m_flows[member.flow];
            if (flow.round == m_regionRound)
            {
                continue;
            }
            const bool released =
                flow.bottleneck == index && (!full || Above(link.highest, flow.rate));
            const bool takesMore = link.level >= 0 && Above(flow.rate, link.level);
            if (released || takesMore || Above(load, link.capacity))
            {
                m_flows[member.flow].frozen = false;
                Join(member.flow);
            }
        }
    }
    return m_region.size() > before;
}

void
MaxMin::Commit()
{
    m_changed.clear();
    for (const uint32_t index : m_region)
    {
        Flow& flow = m_flows[index];
        flow.bottleneck = flow.nextBottleneck;
        if (flow.next != flow.rate)
        {
            flow.rate = flow.next;
            m_changed.push_back(index);
        }
    }
}

const std::vector<uint32_t>&
MaxMin::Solve()
{
    Begin();
    do
    {
        OpenLinks();
        Fill();
    } while (Grow());
    Commit();
    return m_changed;
}

uint64_t
MaxMin::MemoryBytes() const
{
    uint64_t bytes = m_flows.size() * sizeof(Flow) + m_links.size() * sizeof(Link);
    for (const auto& link : m_links)
    {
        bytes += link.members.capacity() * (sizeof(Member) + sizeof(Use) + sizeof(uint32_t));
    }
    return bytes;
}

} // namespace ns3

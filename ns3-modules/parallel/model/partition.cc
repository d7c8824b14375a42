// SPDX-License-Identifier: GPL-2.0-only

#include "partition.h"

#include "ns3/fabric-state.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace ns3
{
namespace fabric
{

namespace
{

/// So much more than its share of the work may a part weigh that is kept whole [1].
constexpr double UNEVEN = 1.2;
/// Delays that are tried as the shortest on which a domain may end.
constexpr size_t TRIED = 16;

/// State of a domain that runs about as fast as a smaller one [byte].
constexpr double DOMAIN_BYTES = 3e6;
/// What all domains may keep of the whole network, beside the ports that they share [byte].
constexpr double COPIES_BYTES = 3e8;
/// Of that, for each end of a link and each node in each domain [byte].
constexpr double LINK_END_BYTES = 16;
constexpr double NODE_BYTES = 150;
/// Frames of a domain in a window, if all its links are full: fewer, and windows cost more than
/// the domains save.
constexpr double WINDOW_FRAMES = 128;
/// Of a frame on a link with the event of its arrival [byte].
constexpr double WIRE_BYTES = 48;
constexpr int64_t FRAME_BYTES = 4096;
/// Frames on longer links are met in the order in which they were sent [ps].
constexpr int64_t LONG_PS = 1'000'000;

/// A switch with its hosts, by their places in the table of nodes.
struct Unit
{
    int64_t tier;
    int64_t plane;
    int64_t links; ///< Ends of links
};

/// Two units are joined.
struct Join
{
    uint32_t a;
    uint32_t b;
    int64_t delayPs;
};

/// Units that no domain divides.
using Part = std::vector<uint32_t>;

/// Sets that are joined one by one.
class DisjointSets
{
  public:
    explicit DisjointSets(size_t size)
        : m_parent(size)
    {
        std::iota(m_parent.begin(), m_parent.end(), 0);
    }

    uint32_t Of(uint32_t i)
    {
        while (m_parent[i] != i)
        {
            i = m_parent[i] = m_parent[m_parent[i]];
        }
        return i;
    }

    void Join(uint32_t a, uint32_t b)
    {
        m_parent[std::max(Of(a), Of(b))] = std::min(Of(a), Of(b));
    }

  private:
    std::vector<uint32_t> m_parent;
};

/// The units of a network and what joins them.
class Units
{
  public:
    explicit Units(const FabricTables& tables)
        : m_of(tables.nodes.size(), NONE)
    {
        FindUnits(tables);
        for (const LinkRow& link : tables.links)
        {
            const uint32_t a = OfNode(tables, link.nodeA);
            const uint32_t b = OfNode(tables, link.nodeB);
            units[a].links++;
            units[b].links++;
            Add(a, b, link.delayPs);
        }
        AddDependencies(tables);
    }

    uint32_t Of(size_t node) const ///< Its place in the table
    {
        return m_of[node];
    }

    int64_t Links(const Part& part) const
    {
        return std::accumulate(part.begin(), part.end(), int64_t{0}, [this](int64_t sum, auto i) {
            return sum + units[i].links;
        });
    }

    std::vector<Unit> units;
    std::vector<Join> joins;

  private:
    static constexpr uint32_t NONE = 0xffffffff;

    uint32_t OfNode(const FabricTables& tables, int64_t node) const
    {
        return m_of[*PlaceOf(tables.nodes, node)];
    }

    void Add(uint32_t a, uint32_t b, int64_t delayPs)
    {
        if (a != b)
        {
            joins.push_back({a, b, delayPs});
        }
    }

    void FindUnits(const FabricTables& tables);
    void AddDependencies(const FabricTables& tables);

    std::vector<uint32_t> m_of; ///< By node
};

void
Units::FindUnits(const FabricTables& tables)
{
    const auto begin = [this, &tables](size_t node) {
        m_of[node] = static_cast<uint32_t>(units.size());
        units.push_back({tables.nodes[node].tier, tables.nodes[node].plane, 0});
    };
    for (size_t node = 0; node < tables.nodes.size(); node++)
    {
        if (tables.nodes[node].isSwitch)
        {
            begin(node);
        }
    }
    for (const LinkRow& link : tables.links)
    {
        const size_t a = *PlaceOf(tables.nodes, link.nodeA);
        const size_t b = *PlaceOf(tables.nodes, link.nodeB);
        for (const auto& [host, next] : {std::pair(a, b), std::pair(b, a)})
        {
            if (m_of[host] == NONE && tables.nodes[next].isSwitch)
            {
                m_of[host] = m_of[next];
            }
        }
    }
    for (size_t node = 0; node < tables.nodes.size(); node++)
    {
        if (m_of[node] == NONE) // it is linked to hosts alone
        {
            begin(node);
        }
    }
}

/// News of what has ended travels between hosts too.
void
Units::AddDependencies(const FabricTables& tables)
{
    std::map<int64_t, std::pair<int64_t, int64_t>> hostsOf; // where it starts, where it ends
    for (const FlowRow& flow : tables.flows)
    {
        hostsOf[flow.id] = {flow.src, flow.bytes != 0 ? flow.dst : flow.src};
    }
    for (const TaskRow& task : tables.tasks)
    {
        hostsOf[task.id] = {task.node, task.node};
    }
    for (const DependencyRow& row : tables.dependencies)
    {
        const auto after = hostsOf.find(row.after);
        const auto next = hostsOf.find(row.flow);
        if (after != hostsOf.end() && next != hostsOf.end())
        {
            const int64_t known = row.atSender ? after->second.first : after->second.second;
            Add(OfNode(tables, known), OfNode(tables, next->second.first), row.delayPs);
        }
    }
}

/// @return what joins of less than a delay make one part of; in the order of their first units
std::vector<Part>
JoinedBelow(const Units& all, int64_t delayPs)
{
    DisjointSets sets(all.units.size());
    for (const Join& join : all.joins)
    {
        if (join.delayPs < delayPs)
        {
            sets.Join(join.a, join.b);
        }
    }
    std::map<uint32_t, Part> parts;
    for (uint32_t unit = 0; unit < all.units.size(); unit++)
    {
        parts[sets.Of(unit)].push_back(unit);
    }
    std::vector<Part> result;
    for (auto& [first, part] : parts)
    {
        result.push_back(std::move(part));
    }
    return result;
}

/// @return the largest parts that can be shared out evenly
std::vector<Part>
KeptWhole(const Units& all, uint32_t domains)
{
    std::set<int64_t> distinct;
    double total = 0;
    double largest = 0;
    for (const Join& join : all.joins)
    {
        distinct.insert(join.delayPs);
    }
    for (const Unit& unit : all.units)
    {
        total += static_cast<double>(unit.links);
        largest = std::max(largest, static_cast<double>(unit.links));
    }
    const std::vector<int64_t> delays(distinct.begin(), distinct.end());
    const double most = UNEVEN * std::max(total / domains, largest);
    const size_t tried = std::min(TRIED, delays.size());
    for (size_t i = tried; i-- > 0;)
    {
        const size_t place = tried == 1 ? 0 : i * (delays.size() - 1) / (tried - 1);
        std::vector<Part> parts = JoinedBelow(all, delays[place]);
        const auto isEven = [&](const Part& part) {
            return static_cast<double>(all.Links(part)) <= most;
        };
        if (parts.size() >= domains && std::ranges::all_of(parts, isEven))
        {
            return parts;
        }
    }
    return JoinedBelow(all, 0);
}

/// Share parts out by their links, in their order: each domain gets one at least if there are so
/// many.
void
ShareOut(const Units& all,
         const std::vector<const Part*>& parts,
         uint32_t domains,
         std::vector<uint32_t>& domainOf)
{
    double total = 0;
    for (const Part* part : parts)
    {
        total += static_cast<double>(all.Links(*part));
    }
    double before = 0;
    uint32_t last = 0;
    for (size_t place = 0; place < parts.size(); place++)
    {
        const auto links = static_cast<double>(all.Links(*parts[place]));
        const double middle = (before + links / 2) / std::max(total, 1.0);
        before += links;
        auto domain = std::min(static_cast<uint32_t>(middle * domains), domains - 1);
        if (parts.size() >= domains)
        {
            const size_t behind = parts.size() - place; // one each for as many of the last domains
            const uint32_t least = behind < domains ? domains - static_cast<uint32_t>(behind) : 0;
            const uint32_t most = place == 0 ? 0 : last + 1;
            domain = std::clamp(domain, least, std::max(least, most));
            last = domain;
        }
        for (const uint32_t unit : *parts[place])
        {
            domainOf[unit] = domain;
        }
    }
}

/// Parts of one tier, plane by plane where planes are large enough for all domains.
std::vector<std::vector<const Part*>>
GroupsOf(const Units& all, const std::vector<Part>& parts, uint32_t domains)
{
    std::map<int64_t, std::map<int64_t, std::vector<const Part*>>> tiers;
    std::map<int64_t, std::vector<const Part*>> whole;
    for (const Part& part : parts)
    {
        const auto place = std::ranges::min(part, {}, [&all](uint32_t i) {
            return std::pair(all.units[i].tier, all.units[i].plane);
        });
        tiers[all.units[place].tier][all.units[place].plane].push_back(&part);
        whole[all.units[place].tier].push_back(&part);
    }
    std::vector<std::vector<const Part*>> groups;
    for (auto& [tier, planes] : tiers)
    {
        const auto isLarge = [domains](const auto& plane) {
            return plane.second.size() >= domains;
        };
        if (!std::ranges::all_of(planes, isLarge))
        {
            groups.push_back(whole[tier]);
            continue;
        }
        for (auto& [plane, its] : planes)
        {
            groups.push_back(its);
        }
    }
    return groups;
}

/// @return the least delay between two domains: no less than a window [ps]
int64_t
LeastPs(const FabricTables& tables, const Units& all, const std::vector<uint32_t>& domains)
{
    int64_t leastPs = std::numeric_limits<int64_t>::max();
    std::vector<uint32_t> domainOf(all.units.size());
    for (size_t node = 0; node < domains.size(); node++)
    {
        domainOf[all.Of(node)] = domains[node];
    }
    for (const Join& join : all.joins)
    {
        leastPs = domainOf[join.a] != domainOf[join.b] ? std::min(leastPs, join.delayPs) : leastPs;
    }
    for (const LinkRow& link : tables.links) // an acknowledgement takes one link up, one down
    {
        const bool areSwitches = tables.nodes[*PlaceOf(tables.nodes, link.nodeA)].isSwitch &&
                                 tables.nodes[*PlaceOf(tables.nodes, link.nodeB)].isSwitch;
        leastPs = areSwitches ? leastPs : std::min(leastPs, 2 * link.delayPs);
    }
    return leastPs;
}

/// @return frames that all links can carry in a time
double
FramesIn(const FabricTables& tables, int64_t ps)
{
    double frames = 0;
    for (const LinkRow& link : tables.links)
    {
        frames += 2 * static_cast<double>(ps) * static_cast<double>(link.rateBps) /
                  (8e12 * static_cast<double>(FRAME_BYTES));
    }
    return frames;
}

double
StateBytes(const FabricTables& tables)
{
    double bytes = 2 * static_cast<double>(tables.links.size() * sizeof(Port));
    for (const LinkRow& link : tables.links)
    {
        bytes += 2 * WIRE_BYTES * static_cast<double>(std::min(link.delayPs, LONG_PS)) *
                 static_cast<double>(link.rateBps) / (8e12 * static_cast<double>(FRAME_BYTES));
    }
    return bytes;
}

} // namespace

std::vector<uint32_t>
Partition(const FabricTables& tables, uint32_t domains)
{
    const Units all(tables);
    domains = std::clamp<uint32_t>(domains, 1, std::max<size_t>(all.units.size(), 1));
    const std::vector<Part> parts = KeptWhole(all, domains);
    std::vector<uint32_t> domainOf(all.units.size());
    for (const auto& group : GroupsOf(all, parts, domains))
    {
        ShareOut(all, group, domains, domainOf);
    }
    if (std::set(domainOf.begin(), domainOf.end()).size() != domains)
    {
        std::vector<const Part*> each;
        std::ranges::transform(parts, std::back_inserter(each), [](auto& part) { return &part; });
        ShareOut(all, each, domains, domainOf);
    }
    std::vector<uint32_t> result(tables.nodes.size());
    for (size_t node = 0; node < result.size(); node++)
    {
        result[node] = domainOf[all.Of(node)];
    }
    return result;
}

std::vector<uint32_t>
ChooseDomains(const FabricTables& tables, uint32_t threads)
{
    const double copyBytes = 2 * LINK_END_BYTES * static_cast<double>(tables.links.size()) +
                             NODE_BYTES * static_cast<double>(tables.nodes.size()) +
                             static_cast<double>(tables.flows.size() * sizeof(Message));
    const double byCache = std::floor(StateBytes(tables) / DOMAIN_BYTES);
    const double byMemory = std::floor(COPIES_BYTES / std::max(copyBytes, 1.0));
    auto domains = static_cast<uint32_t>(std::clamp(std::min(byCache, byMemory), 1.0, 64.0));
    domains = std::max(domains, threads);
    const Units all(tables);
    for (; domains > 1; domains /= 2)
    {
        std::vector<uint32_t> chosen = Partition(tables, domains);
        const double frames = FramesIn(tables, LeastPs(tables, all, chosen));
        if (frames >= WINDOW_FRAMES * domains)
        {
            return chosen;
        }
    }
    return std::vector<uint32_t>(tables.nodes.size());
}

} // namespace fabric
} // namespace ns3

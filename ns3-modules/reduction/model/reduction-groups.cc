// SPDX-License-Identifier: GPL-2.0-only

#include "reduction-groups.h"

#include "ns3/abort.h"

#include <algorithm>
#include <bit>

namespace ns3
{

using namespace fabric;

namespace
{

constexpr uint32_t NO_GROUP = 0xffffffff;

} // namespace

RankSet::RankSet(const uint64_t (&words)[3])
    : m_words{words[0], words[1], words[2]}
{
}

RankSet
RankSet::Of(uint32_t rank)
{
    RankSet set;
    set.m_words[rank / 64] = uint64_t{1} << (rank % 64);
    return set;
}

RankSet
RankSet::All(uint32_t ranks)
{
    RankSet set;
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        set |= Of(rank);
    }
    return set;
}

bool
RankSet::Has(uint32_t rank) const
{
    return (m_words[rank / 64] >> (rank % 64)) & 1;
}

bool
RankSet::Meets(const RankSet& other) const
{
    return (m_words[0] & other.m_words[0]) | (m_words[1] & other.m_words[1]) |
           (m_words[2] & other.m_words[2]);
}

uint32_t
RankSet::First() const
{
    const auto word = std::find_if(m_words.begin(), m_words.end(), [](auto w) { return w != 0; });
    return static_cast<uint32_t>(word - m_words.begin()) * 64 +
           static_cast<uint32_t>(std::countr_zero(*word));
}

RankSet&
RankSet::operator|=(const RankSet& other)
{
    for (size_t i = 0; i < m_words.size(); i++)
    {
        m_words[i] |= other.m_words[i];
    }
    return *this;
}

void
RankSet::Store(uint64_t (&words)[3]) const
{
    std::copy(m_words.begin(), m_words.end(), words);
}

ReductionGroups::ReductionGroups(uint32_t numMessages,
                                 const std::function<const Message&(uint32_t)>& messageAt,
                                 uint32_t transport)
    : m_groupOf(numMessages, NO_GROUP)
{
    for (uint32_t message = 0; message < numMessages; message++)
    {
        if (messageAt(message).transport != transport)
        {
            continue;
        }
        Group group{message, 1};
        while (messageAt(message).dst != messageAt(group.first).src)
        {
            const uint32_t next = message + 1;
            NS_ABORT_MSG_IF(next == numMessages || messageAt(next).transport != transport ||
                                messageAt(next).src != messageAt(message).dst ||
                                messageAt(next).bytes != messageAt(message).bytes,
                            "ns3::ReductionTransport: flow "
                                << messageAt(message).id << " is not followed by one of as many "
                                << "bytes from its destination: ranks of a reduction are a ring "
                                << "of flows with ids in their order");
            message = next;
        }
        group.ranks = message + 1 - group.first;
        NS_ABORT_MSG_IF(group.ranks > RankSet::MOST_RANKS,
                        "ns3::ReductionTransport: " << group.ranks << " ranks reduce together, at "
                                                    << "most " << RankSet::MOST_RANKS << " may");
        std::fill_n(m_groupOf.begin() + group.first,
                    group.ranks,
                    static_cast<uint32_t>(m_groups.size()));
        m_groups.push_back(group);
    }
}

std::optional<uint32_t>
ReductionGroups::GroupOf(uint32_t message) const
{
    const bool isOurs = message < m_groupOf.size() && m_groupOf[message] != NO_GROUP;
    return isOurs ? std::optional{m_groupOf[message]} : std::nullopt;
}

const ReductionGroups::Group&
ReductionGroups::operator[](uint32_t group) const
{
    return m_groups[group];
}

} // namespace ns3

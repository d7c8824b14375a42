// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_RANDOM_H
#define FABRIC_RANDOM_H

#include <cstdint>

namespace ns3
{
namespace fabric
{

/// What a random number is for; part of its key, so that no two uses share a stream.
enum class RandomUse : uint64_t
{
    FLOW_TUPLE = 1,   ///< Header fields of a flow, as a hash sees them
    SWITCH_SALT = 2,  ///< Hash seed of one switch
    PATH_ENTROPY = 3, ///< Entropy of packets of one flow
    SWITCH_SPRAY = 4, ///< Member choice of one switch
    ECN_MARK = 5,     ///< Marking decision at one port
    FRAME_LOSS = 6,   ///< Loss on one direction of a link
    TRANSPORT = 7,    ///< Free use of a transport
    BIT_ERROR = 8,    ///< Corruption on one direction of a link
    LOSS_MODEL = 9,   ///< Losses on one direction of a link of a class
    TRIM = 10,        ///< Which of two frames a port trims
    PLACEMENT = 11,   ///< Which placements a controller tries
    FIRST_PORT = 12,  ///< By which of its ports a host sends first
};

/// Finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection whose output bits look random.
inline uint64_t
Mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

/**
 * @brief Counter-based random numbers: a pure function of (seed, use, key, counter).
 *
 * A draw depends on what it is for (flow id, node id, port) and never on the order in which
 * objects were listed or events of different nodes were executed, so neither a shuffled input
 * table nor a partition over threads changes it.
 */
class CounterRandom
{
  public:
    CounterRandom(uint64_t seed, RandomUse use, uint64_t key)
        : m_base(Mix64(Mix64(Mix64(seed + GOLDEN) + static_cast<uint64_t>(use)) + key * GOLDEN))
    {
    }

    /// @return 64 random bits number `counter` of this stream
    uint64_t Bits(uint64_t counter) const
    {
        return Mix64(m_base + (counter + 1) * GOLDEN);
    }

    /// @return uniform in [0, 1)
    double Real(uint64_t counter) const
    {
        return static_cast<double>(Bits(counter) >> 11) * 0x1.0p-53;
    }

    /// @return uniform in [0, n); the bias of at most n/2^32 is far below what a run can see
    uint32_t Below(uint64_t counter, uint32_t n) const
    {
        return static_cast<uint32_t>(((Bits(counter) >> 32) * n) >> 32);
    }

  private:
    static constexpr uint64_t GOLDEN = 0x9e3779b97f4a7c15ULL;
    uint64_t m_base;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_RANDOM_H

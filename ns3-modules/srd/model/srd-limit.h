// SPDX-License-Identifier: GPL-2.0-only

#ifndef SRD_LIMIT_H
#define SRD_LIMIT_H

#include <cstdint>

/**
 * @defgroup srd Scalable Reliable Datagram
 */

namespace ns3
{

/**
 * @ingroup srd
 * @brief At which rate a message goes, and how much of it may be in flight.
 *
 * The rate is so many packets in each unloaded round trip, and what may be in flight is what it
 * sends in a round trip that is up by the headroom. Answers are taken in rounds, of a round trip
 * each. Over a round, the packets that were answered over its time are the estimated rate. The
 * round was congested if the round trip was up on most paths, or if its packets were sent faster
 * than they were answered. Then the rate is nine tenths of the estimate, so that the queue drains.
 * Else it grows: by an eighth of a packet for each unloaded round trip, by twice as much after each
 * further round without congestion, at most by a quarter.
 *
 * **Source** Shalev et al., IEEE Micro 40 (6), 2020, section "Congestion control": a rate limit and
 * an in-flight limit for each connection, the rate estimated by the times of answers, both signs of
 * congestion. That a round is a round trip, what is done at its end, and every number are ours.
 */
class SrdLimit
{
  public:
    /// What an answer says.
    struct Answer
    {
        uint32_t packets; ///< That it is the first to report
        uint64_t sentPs;  ///< When its packet left [ps]
        uint64_t nowPs;   ///< [ps]
        bool isMostSlow;  ///< The round trip is up on most paths of this round
    };

    /**
     * @param packets first rate, in each unloaded round trip [packet]
     * @param mostPackets largest one [packet]
     * @param baseRttPs unloaded round trip [ps]
     * @param headroom by which a round trip may be longer [1]
     * @param tolerance by which answers may take longer than sending did [1]
     */
    SrdLimit(double packets = 1,
             double mostPackets = 1,
             uint64_t baseRttPs = 1,
             double headroom = 0,
             double tolerance = 0);

    bool OnAnswer(const Answer& answer); ///< @return whether a round has ended
    void OnTimeout();                    ///< Half of it, once for each round

    double Packets() const ///< In flight, may be below 1 [packet]
    {
        return (1 + m_headroom) * m_packets;
    }

    uint64_t IntervalPs() const ///< Between two packets, by the rate [ps]
    {
        return static_cast<uint64_t>(m_baseRttPs / m_packets);
    }

  private:
    void EndRound(const Answer& answer);

    double m_packets; ///< In each unloaded round trip
    double m_mostPackets;
    double m_baseRttPs;
    double m_headroom;
    double m_tolerance;
    bool m_hasBegun{false};    ///< There was an answer
    bool m_hasTimedOut{false}; ///< In this round
    uint64_t m_answerPs{0};    ///< Time of the answer that began the round [ps]
    uint64_t m_sentPs{0};      ///< When its packet left [ps]
    uint32_t m_answered{0};    ///< Packets of this round
    uint32_t m_quietRounds{0}; ///< Without congestion, in a row
};

} // namespace ns3

#endif // SRD_LIMIT_H

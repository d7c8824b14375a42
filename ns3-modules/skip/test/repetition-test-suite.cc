// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/repetition.h"

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

/// @return a sequence that begins with parts like no other and goes on in turns of `period` parts
Repetition
Turns(size_t before, size_t period, size_t parts)
{
    Repetition sequence;
    for (size_t i = 0; i < before; i++)
    {
        sequence.Add(1'000'000 + i);
    }
    for (size_t i = 0; i < parts; i++)
    {
        sequence.Add(i % period);
    }
    return sequence;
}

} // namespace

static Suite g_suite{"fabric-repetition"};

/// Oracle: by construction. A turn is seen once as many parts as it has, and LEAST, have repeated.
TEST_CASE(g_suite, "the period of the end of a sequence, as soon as it is sure")
{
    for (const size_t period : {1, 2, 7, 63, 64, 65, 200})
    {
        const size_t sure = period + std::max(period, Repetition::LEAST);
        for (const size_t before : {0, 1, 150})
        {
            NS_TEST_EXPECT_MSG_EQ(Turns(before, period, sure).Period(), period, "whole");
            NS_TEST_EXPECT_MSG_EQ(Turns(before, period, sure - 1).Period(), 0, "one less");
            NS_TEST_EXPECT_MSG_EQ(Turns(before, period, 3 * sure).Period(), period, "more");
        }
    }
}

/// Oracle: what comes last is another part than any before, so nothing has repeated.
TEST_CASE(g_suite, "a part that differs ends a repetition")
{
    Repetition sequence = Turns(3, 5, 500);
    NS_TEST_EXPECT_MSG_EQ(sequence.GoesOn(5), true, "499 is as 494");
    NS_TEST_EXPECT_MSG_EQ(sequence.GoesOn(4), false, "and not as 495");
    sequence.Add(77);
    NS_TEST_EXPECT_MSG_EQ(sequence.GoesOn(5), false, "77 came never");
    NS_TEST_EXPECT_MSG_EQ(sequence.Period(), 0, "so the end repeats nothing");
}

/// Oracle: by construction. What is forgotten lies before the last period.
TEST_CASE(g_suite, "what goes on for long is followed with the parts of one period")
{
    Repetition sequence = Turns(0, 5, Repetition::MOST + 5);
    sequence.Forget(5);
    NS_TEST_EXPECT_MSG_EQ(sequence.Size(), Repetition::MOST + 5, "not too many yet");
    const size_t parts = sequence.Size() + 1;
    sequence.Add((parts - 1) % 5);
    sequence.Forget(5);
    NS_TEST_EXPECT_MSG_EQ(sequence.Size(), 5, "a period");
    sequence.Add(parts % 5);
    NS_TEST_EXPECT_MSG_EQ(sequence.GoesOn(5), true, "the next part in turn");
    sequence.Add(parts % 5);
    NS_TEST_EXPECT_MSG_EQ(sequence.GoesOn(5), false, "the same once more");
}

} // namespace tests
} // namespace ns3

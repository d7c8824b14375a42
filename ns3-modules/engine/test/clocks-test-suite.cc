// SPDX-License-Identifier: GPL-2.0-only

#include "test-case.h"

#include "ns3/clocks.h"

#include <concepts>
#include <type_traits>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

template <typename A, typename B>
constexpr bool MAY_MIX =
    std::is_convertible_v<A, B> || std::is_constructible_v<B, A> || std::is_assignable_v<B&, A> ||
    requires(A a, B b) { a < b; } || requires(A a, B b) { a == b; } ||
    requires(A a, B b) { a - b; } || requires(A a, B b) { a + b; };

static_assert(!MAY_MIX<EnginePs, WorldPs> && !MAY_MIX<WorldPs, EnginePs>);
static_assert(!std::is_convertible_v<uint64_t, EnginePs> &&
              !std::is_convertible_v<EnginePs, uint64_t>);
static_assert(!std::is_convertible_v<uint64_t, WorldPs> &&
              !std::is_convertible_v<WorldPs, uint64_t>);
static_assert(std::same_as<decltype(WorldPs() - WorldPs()), uint64_t>, "a span has no clock");
static_assert(std::same_as<decltype(EnginePs() + uint64_t{1}), EnginePs>);
static_assert(sizeof(WorldPs) == sizeof(uint64_t) && std::is_trivially_copyable_v<WorldPs>);

} // namespace

static Suite g_suite{"clocks"};

/// Oracle: addition.
TEST_CASE(g_suite, "the time of the world is ahead by what is not executed")
{
    WorldClock world;
    NS_TEST_EXPECT_MSG_EQ(world.WorldOf(EnginePs(7)), WorldPs(7), "nothing yet");
    world.MoveAhead(100);
    world.MoveAhead(20);
    NS_TEST_EXPECT_MSG_EQ(world.WorldOf(EnginePs(7)), WorldPs(127), "both");
    NS_TEST_EXPECT_MSG_EQ(world.EngineOf(WorldPs(127)), EnginePs(7), "and back");
}

} // namespace tests
} // namespace ns3

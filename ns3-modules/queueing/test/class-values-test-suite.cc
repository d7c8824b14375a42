// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/class-values.h"
#include "ns3/string.h"

#include <sstream>

namespace ns3
{
namespace tests
{

namespace
{

static Suite g_suite{"queueing-class-values"};

/// A list of class:value is read and written back; anything else is refused as an attribute.
TEST_CASE(g_suite, "class:value, class:value")
{
    const auto checker = MakeClassValuesChecker();
    for (const std::string good : {"", "7:10", "7:10,3:1", "3:1,3:2", "15:0,0:1844674407370955161"})
    {
        const auto value = checker->CreateValidValue(StringValue(good));
        NS_TEST_ASSERT_MSG_NE(value, nullptr, good);
        NS_TEST_EXPECT_MSG_EQ(value->SerializeToString(checker), good, "as it was");
    }
    for (const std::string bad : {"7",
                                  "7:",
                                  ":1",
                                  "16:1",
                                  "-1:1",
                                  "1:-1",
                                  "1:1,",
                                  "1:1;2:2",
                                  "1:1, 2:2",
                                  "a:b",
                                  "1:1.5",
                                  "1:99999999999999999999"})
    {
        NS_TEST_EXPECT_MSG_EQ(checker->CreateValidValue(StringValue(bad)), nullptr, bad);
    }
}

/// What is not named has the value of the others.
TEST_CASE(g_suite, "values per class")
{
    ClassValues values;
    std::istringstream("7:10,3:4") >> values;
    const auto perClass = values.PerClass(1, 1, "test");
    for (uint32_t c = 0; c < fabric::MAX_CLASSES; c++)
    {
        NS_TEST_EXPECT_MSG_EQ(perClass[c], (c == 7 ? 10U : c == 3 ? 4U : 1U), "class " << c);
    }
}

} // namespace

} // namespace tests
} // namespace ns3

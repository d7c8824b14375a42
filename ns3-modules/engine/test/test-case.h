// SPDX-License-Identifier: GPL-2.0-only
#ifndef ENGINE_TEST_CASE_H
#define ENGINE_TEST_CASE_H

#include "ns3/test.h"

#include <string>
#include <tuple>
#include <type_traits>

namespace ns3
{
namespace tests
{

/// A suite of ns-3's test runner.
class Suite : public TestSuite
{
  public:
    explicit Suite(const std::string& name, Type type = Type::UNIT)
        : TestSuite(name, type)
    {
    }

    /// Add a case, which is the suite's from now on.
    void Add(TestCase* testCase, Duration duration = Duration::QUICK)
    {
        AddTestCase(testCase, duration);
    }
};

template <typename Case, typename Signature>
class CaseWithValues;

/// A case whose body has parameters.
template <typename Case, typename... Values>
class CaseWithValues<Case, void(Values...)> : public TestCase
{
  public:
    explicit CaseWithValues(const std::decay_t<Values>&... values)
        : TestCase(Case::Text(values...)),
          m_values(values...)
    {
    }

  private:
    void DoRun() override
    {
        std::apply([this](const auto&... values) { static_cast<Case*>(this)->Body(values...); },
                   m_values);
    }

    std::tuple<std::decay_t<Values>...> m_values;
};

} // namespace tests
} // namespace ns3

/// A case that joins a Suite, which stands above it in the file; its body follows.
#define TEST_CASE(suite, text) TEST_CASE_AT(suite, text, __LINE__)
#define TEST_CASE_AT(suite, text, line) TEST_CASE_OF_LINE(suite, text, line)
#define TEST_CASE_OF_LINE(suite, text, line) TEST_CASE_NAMED(suite, text, CaseOfLine##line)
#define TEST_CASE_NAMED(suite, text, Name)                                                         \
    namespace                                                                                      \
    {                                                                                              \
    class Name final : public ::ns3::TestCase                                                      \
    {                                                                                              \
      public:                                                                                      \
        Name()                                                                                     \
            : TestCase(text)                                                                       \
        {                                                                                          \
        }                                                                                          \
                                                                                                   \
      private:                                                                                     \
        void DoRun() override;                                                                     \
    };                                                                                             \
    [[maybe_unused]] const bool g_joins##Name = (suite.Add(new Name), true);                       \
    }                                                                                              \
    void Name::DoRun()

/// A case with parameters, for ADD_CASES; `text` may name them, and its body follows.
#define TEST_CASES(Name, text, ...)                                                                \
    namespace                                                                                      \
    {                                                                                              \
    class Name final : public ::ns3::tests::CaseWithValues<Name, void(__VA_ARGS__)>                \
    {                                                                                              \
      public:                                                                                      \
        using CaseWithValues::CaseWithValues;                                                      \
        void Body(__VA_ARGS__);                                                                    \
                                                                                                   \
        static std::string Text(__VA_ARGS__)                                                       \
        {                                                                                          \
            return text;                                                                           \
        }                                                                                          \
    };                                                                                             \
    }                                                                                              \
    void Name::Body(__VA_ARGS__)

/// The body that follows adds cases with parameters: `suite.Add(new Name(values))`.
#define ADD_CASES(to)                                                                              \
    static void AddCasesTo(::ns3::tests::Suite& suite);                                            \
    [[maybe_unused]] static const bool g_hasCases = (AddCasesTo(to), true);                        \
    static void AddCasesTo(::ns3::tests::Suite& suite)

#endif // ENGINE_TEST_CASE_H

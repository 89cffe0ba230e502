// What this project needs of XLA's foreign-function interface: its C structs, declared here by their layout, so that
// nothing of XLA is needed to build. Sizes travel with the structs, and the version is checked before anything else
// is read (handler.cpp). The layout is that of versions 0.0 to 0.3, which differ in fields behind those named here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace robomorph::xla {

inline constexpr int kMajor = 0;
inline constexpr int kMinor = 3;  // the latest that was read

enum ExtensionType { kMetadataExtension = 1 };
enum ErrorCode { kInvalidArgument = 3, kNotFound = 5, kResourceExhausted = 8, kUnimplemented = 12 };
enum ElementType { kFloat32 = 11, kFloat64 = 12 };
enum BufferKind { kBuffer = 1 };
enum AttributeKind { kString = 4 };
enum Stage { kExecute = 3 };

struct Extension {
  std::size_t size;
  ExtensionType type;
  Extension* next;
};

struct Version {
  std::size_t size;
  Extension* extensions;
  int major;
  int minor;
};

struct Error;  // XLA's own

struct ErrorArguments {
  std::size_t size;
  Extension* extensions;
  const char* message;
  ErrorCode code;
};

struct Api {
  std::size_t size;
  Extension* extensions;
  Version version;
  const void* internal;
  Error* (*create_error)(ErrorArguments* arguments);
  // more functions follow
};

struct Text {
  const char* data;
  std::size_t size;
};

struct Buffer {
  std::size_t size;
  Extension* extensions;
  ElementType type;
  void* data;
  std::int64_t rank;
  std::int64_t* dims;
};

struct Buffers {
  std::size_t size;
  Extension* extensions;
  std::int64_t count;
  BufferKind* kinds;
  void** items;  // Buffer*
};

struct Attributes {
  std::size_t size;
  Extension* extensions;
  std::int64_t count;
  AttributeKind* kinds;
  Text** names;  // sorted
  void** values;  // Text* where the kind is a string
};

struct CallFrame {
  std::size_t size;
  Extension* extensions;
  const Api* api;
  void* context;
  Stage stage;
  Buffers arguments;
  Buffers results;
  Attributes attributes;
  // more follows
};

struct Metadata {
  std::size_t size;
  Version version;
  std::uint32_t traits;
  std::int64_t state_type;  // since 0.2
};

struct MetadataExtension {
  Extension extension;
  Metadata* metadata;
};

}  // namespace robomorph::xla

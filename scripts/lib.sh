# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the scripts share. Sourced, never run.

# The packages that a task needs, by task. Debian 12 and 13 and Ubuntu 24.04 have all of them under these names.
packages_build="gcc libc6-dev musl-tools meson ninja-build pkg-config libyaml-dev libpcre2-dev libsqlite3-dev libssl-dev scdoc"
packages_test="ccache docker.io systemd libcmocka-dev libhttp-parser-dev libjansson-dev libseccomp-dev python3 python3-pytest python3-pytest-xdist python3-hypothesis python3-yaml python3-jsonschema clang libclang-rt-dev
  universal-ctags jq mandoc shellcheck bash-completion zsh fish git make perl procps util-linux
  rsync sqlite3 less strace stress-ng python3-venv curl dash uidmap apparmor prometheus openssl iproute2"
packages_vm="qemu-system-x86 e2fsprogs systemd zstd"
# For scripts/arm64: what is needed here, and what the system has that creel is built for, and that the guest boots.
packages_arm64="gcc-aarch64-linux-gnu qemu-system-arm qemu-user mmdebstrap meson ninja-build pkg-config scdoc python3 git zstd"
packages_arm64_root="gcc libc6-dev musl-dev libyaml-dev libpcre2-dev libsqlite3-dev libssl-dev libcmocka-dev libhttp-parser-dev libjansson-dev libseccomp-dev strace
  base-files base-passwd bash coreutils dash debianutils diffutils e2fsprogs findutils grep gzip hostname init-system-helpers iproute2 libc-bin mawk mount
  ncurses-bin passwd perl procps sed systemd sysvinit-utils tar uidmap util-linux apparmor linux-image-arm64
  python3 python3-pytest python3-pytest-xdist python3-hypothesis python3-yaml python3-jsonschema python3-venv
  bash-completion curl fish git jq less make mandoc openssl rsync sqlite3 stress-ng universal-ctags zsh"
packages_verify="clang-format clang-tidy cppcheck gcovr"
packages_bench="libhttp-parser-dev libjansson-dev util-linux bubblewrap runc crun docker.io curl nginx-light wrk"
export packages_build packages_test packages_vm packages_arm64 packages_arm64_root packages_verify packages_bench

# With the minutes and seconds that the script has taken: what takes long is seen in any log.
say() { printf '== %d:%02d %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*" >&2; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# need PACKAGE...: installs what is missing. A machine that has everything loses no time: one dpkg-query.
need() {
  local missing=() p sudo=()
  for p in "$@"; do
    dpkg-query -W -f='${db:Status-Status}\n' "$p" 2>/dev/null | grep -qx installed || missing+=("$p")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || die "these packages are missing, and there is no apt-get: ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "these packages are missing; install them as root: apt-get install ${missing[*]}"
    sudo=(sudo)
  fi
  say "installing ${missing[*]}"
  "${sudo[@]}" apt-get update -qq >&2
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}

# need_node: node and npm, from Debian unless the machine has its own.
need_node() {
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then need nodejs npm; fi
}

# need_docker: the client is a package of its own since Debian 13, and comes with the daemon elsewhere.
need_docker() {
  command -v docker >/dev/null || need docker-cli
}

# kernel_packages: what the distribution's kernel for virtual machines comes in. Debian has image and modules in one, Ubuntu in two.
kernel_packages() {
  local meta image
  for meta in linux-image-cloud-amd64 linux-image-virtual; do
    image=$(apt-cache depends "$meta" 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)$/\1/p' | head -n 1)
    [ -n "$image" ] || continue
    echo "$image"
    apt-cache show "${image/image/modules}" >/dev/null 2>&1 && echo "${image/image/modules}"
    return 0
  done
  return 1
}

# need_kernel DIR: the distribution's kernel in DIR/kernel, unpacked and not installed: what boots this machine is not touched.
need_kernel() {
  local dir=$1 names deb sudo=()
  [ ! -f "$dir/kernel/complete" ] || return 0
  [ "$(id -u)" -eq 0 ] || sudo=(sudo)
  kernel_packages >/dev/null || "${sudo[@]}" apt-get update -qq >&2
  names=$(kernel_packages) || { say "no package with a kernel: linux-image-cloud-amd64, linux-image-virtual"; return 1; }
  rm -rf "$dir/kernel"
  mkdir -p "$dir/kernel"
  say "unpacking ${names//$'\n'/ }"
  # shellcheck disable=SC2086
  (cd "$dir/kernel" && { apt-get download -qq $names || { "${sudo[@]}" apt-get update -qq && apt-get download -qq $names; }; }) >&2 || return 1
  for deb in "$dir"/kernel/*.deb; do
    dpkg-deb -x "$deb" "$dir/kernel" || return 1
    rm "$deb"
  done
  touch "$dir/kernel/complete"
}

# What was compiled once from the same sources, in another checkout, too, is not compiled again where ccache is installed.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

# configure DIR OPTIONS...: makes or refreshes a build directory with the compiler in $CC.
configure() {
  local dir=$1
  shift
  if [ -n "${CC-}" ] && command -v ccache >/dev/null; then local -x CC="ccache $CC"; fi
  if [ -f "$dir/build.ninja" ]; then
    meson configure "$dir" "$@" >/dev/null
  else
    rm -rf "$dir"
    meson setup "$dir" --wrap-mode=nofallback "$@" >"$dir.log" 2>&1 || { cat "$dir.log" >&2; return 1; }
  fi
}

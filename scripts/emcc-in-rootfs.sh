#!/bin/sh
# Runs the emcc of the Debian rootfs beside this file as if it were installed here. scripts/setup.mjs puts
# this file into the cache directory as `emcc`; the rootfs is ./emscripten-rootfs, and the system libraries
# that emcc builds go to ./emscripten-cache.
#
# In a private mount namespace (as another user than root: in a user namespace of its own) the directories
# of this machine that hold no system files are bound into the rootfs at the same paths, then chroot. No
# mount outlives the command.
set -eu
HERE=$(cd "$(dirname "$0")" && pwd)
ROOTFS=$HERE/emscripten-rootfs
EM_CACHE=$HERE/emscripten-cache
PATH=$PATH:/usr/sbin:/sbin
export ROOTFS EM_CACHE PATH

namespace="unshare -m"
[ "$(id -u)" = 0 ] || namespace="unshare -rm"
reason=$($namespace true 2>&1) || {
    echo "emcc: no mount namespace to be had here ($reason); install Emscripten 4 or newer and set EMCC=/path/to/emcc" >&2
    exit 1
}

# Top-level directories with system files come from the rootfs, but for the part that is worked in.
binds="/dev /proc"
for dir in /*; do
    case $dir in
        /bin | /boot | /dev | /etc | /lib* | /lost+found | /proc | /run | /sbin | /sys | /usr | /var) ;;
        *) if [ -d "$dir" ] && [ ! -L "$dir" ]; then binds="$binds $dir"; fi ;;
    esac
done
for dir in "$PWD" "$HERE"; do
    case $dir in
        /usr/* | /var/* | /run/*) binds="$binds $(printf %s "$dir" | cut -d/ -f1-3)" ;;
    esac
done
export binds

exec $namespace sh -euc '
    for dir in $binds; do
        mkdir -p "$ROOTFS$dir"
        mount --rbind "$dir" "$ROOTFS$dir"
    done
    exec env -u EM_CONFIG -u EMSDK -u EMSDK_NODE -u PYTHONPATH -u PYTHONHOME chroot "$ROOTFS" \
        /bin/sh -c "cd \"\$0\" && exec emcc \"\$@\"" "$@"' sh "$PWD" "$@"

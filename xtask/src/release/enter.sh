# enter.sh ROOT CHECKOUT TARGET COMMAND...: runs COMMAND in the checkout, with ROOT as the system. Called in mount and process namespaces of its own, whose first
# process this shell is: when it ends, the kernel ends what the command left running and drops the mounts.
# The checkout appears at its own path, read-only, with the folder TARGET in place of its `target`.
set -eu
root=$1
checkout=$2
target=$3
shift 3

# What an earlier run left behind; nothing is mounted here yet.
find "$root/tmp" "$root/root/.cache" -mindepth 1 -delete 2>/dev/null || true

# A mount point, as the root of a system is: commands there that make mount namespaces of their own (`unshare`) change how its mounts spread.
mount --bind "$root" "$root"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero full random urandom tty; do
	: >"$root/dev/$device"
	mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for stream in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${stream%:*}" "$root/dev/${stream#*:}"; done
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"

mkdir -p "$root$checkout"
mount --bind "$checkout" "$root$checkout"
# In a user namespace the flags that the mount has (nosuid, say) must be named again.
mount -o "remount,bind,$(findmnt -n -o VFS-OPTIONS --mountpoint "$root$checkout" | tail -n 1),ro" "$root$checkout"
mount --bind "$target" "$root$checkout/target"

# Not exec: the first process of a process namespace takes no signals and has to wait for orphans.
status=0
chroot "$root" sh -c 'cd "$0" && exec "$@"' "$checkout" "$@" || status=$?
exit "$status"

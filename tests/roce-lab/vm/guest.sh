#!/bin/sh
# The machine's first process, in the real root: mounts what a running system has, does
# the job that $1/job names, leaves its exit status in $1/status, and switches off.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/root LANG=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
. "$1/job"

# A virtual clock jumps to the next timer when no process can run. While all processes wait for a
# file of the host, it would jump by minutes. So until all needed files have been read, a process
# with the lowest priority runs all the time.
if [ "$RACKMESH_CLOCK" = virtual ]; then
	chrt --idle 0 sh -c 'while :; do :; done' &
	busy=$!
fi

mount -t tmpfs -o mode=755 run /run
mkdir -p /run/lock /run/netns /run/roce-lab
mkdir -p /dev/pts /dev/shm
mount -t devpts -o ptmxmode=666 devpts /dev/pts
mount -t tmpfs shm /dev/shm
mount -t tracefs tracefs /sys/kernel/tracing
mount -t debugfs debugfs /sys/kernel/debug
mount -t bpf bpf /sys/fs/bpf
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p "/lib/modules/$(uname -r)"
mount --bind "$KERNEL/lib/modules/$(uname -r)" "/lib/modules/$(uname -r)"
hostname roce-lab
ip link set lo up
ulimit -l unlimited
ulimit -c 0
echo 1 >/proc/sys/kernel/panic_on_oops
modprobe -a rdma_rxe rdma_ucm ib_uverbs ib_umad veth bridge sch_netem nf_tables

cd "$FOLDER" || exit
[ -z "$WARM" ] || sh -c "$WARM" </dev/null >"$OUT/warm" 2>&1
[ -z "$busy" ] || kill "$busy"
if [ -n "$TERMINAL" ]; then
	stty -F /dev/ttyS0 rows "$ROWS" cols "$COLUMNS"
	setsid -cw sh -c "$JOB" </dev/ttyS0 >/dev/ttyS0 2>&1
	status=$?
else
	for port in /sys/class/virtio-ports/*; do
		[ "$(cat "$port/name")" = out ] && talk=/dev/${port##*/}
	done
	sh -c "$JOB" </dev/null >"$talk" 2>&1
	status=$?
fi

echo "$status" >"$OUT/status.draft"
mv "$OUT/status.draft" "$OUT/status"
sync
echo o >/proc/sysrq-trigger
sleep 60

#include "host-agent/services/cgroup_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define UID "0f2ae7bd-41c5-4f43-93a4-3e2b6f1d2c10"
#define UID_ "0f2ae7bd_41c5_4f43_93a4_3e2b6f1d2c10"
#define ID "4b825dc642cb6eb9a060e54bf8d69288fbee4904b825dc642cb6eb9a060e54bf"
#define HASH "a06fc2d3e4f5061728394a5b6c7d8e9f"

static void
expect(const char *path, const char *want)
{
	char name[CGROUP_NAME_BYTES] = "";

	if (cgroup_name_from_path(path, strlen(path), name) != (want != NULL))
		fail_msg("%s is named \"%s\"", path, name);
	if (want != NULL)
		assert_string_equal(name, want);
}

static void
pods_are_named_by_their_uid_in_every_layout(void **state)
{
	/* cgroupfs driver, with and without a QoS class */
	expect("/kubepods/burstable/pod" UID "/" ID, "pod:" UID);
	expect("/kubepods/besteffort/pod" UID "/" ID, "pod:" UID);
	expect("/kubepods/pod" UID "/" ID, "pod:" UID);
	/* systemd driver: containerd, CRI-O, docker */
	expect("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
	       ".slice/cri-containerd-" ID ".scope",
	    "pod:" UID);
	expect("/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope/container",
	    "pod:" UID);
	expect("/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_
	       ".slice/docker-" ID ".scope",
	    "pod:" UID);
	/* containerd without SystemdCgroup, under a kubelet with the systemd driver */
	expect("/system.slice/containerd.service/kubepods-burstable-pod" UID_
	       ".slice:cri-containerd:" ID,
	    "pod:" UID);
	/* a static pod has a hash instead of a UID */
	expect("/kubepods/burstable/pod" HASH "/" ID, "pod:" HASH);
	/* kind: nodes that are containers themselves */
	expect("/docker/" ID "/kubelet/kubepods/burstable/pod" UID "/" ID, "pod:" UID);
	expect("/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_
	       ".slice/cri-containerd-" ID ".scope",
	    "pod:" UID);
	/* minikube, k3s: another folder precedes */
	expect("/k8s.io/kubepods/pod" UID "/" ID, "pod:" UID);
}

static void
containers_without_pods_are_named_by_their_short_id(void **state)
{
	expect("/docker/" ID, "container:4b825dc642cb");
	expect("/system.slice/docker-" ID ".scope", "container:4b825dc642cb");
	expect(
	    "/machine.slice/libpod-" ID ".scope/container", "container:4b825dc642cb");
	expect(
	    "/system.slice/docker-" ID ".scope/init.scope", "container:4b825dc642cb");
}

static void
jobs_of_slurm_are_named_by_their_number(void **state)
{
	expect("/slurm/uid_1000/job_4711/step_0/task_3", "job:4711");
	expect("/slurm_gpu17/uid_1000/job_12/step_batch", "job:12");
	expect(
	    "/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0", "job:4711");
	/* several slurmd on one host */
	expect("/system.slice/gpu17_slurmstepd.scope/job_4711/step_0/user/task_0",
	    "job:4711");
	expect("/system.slice/gx10-ac12_slurmstepd.scope/job_12/step_batch/user/"
	       "task_special",
	    "job:12");
	expect("/slurm_gpu17/uid_0/job_13/step_extern/task_0", "job:13");
	/* in a container */
	expect("/system.slice/docker-" ID
	       ".scope/system.slice/slurmstepd.scope/job_14/step_interactive",
	    "job:14");
	/* in a pod, whose slurmd has cgroups of its own */
	expect("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
	       ".slice/cri-containerd-" ID
	       ".scope/system.slice/slurmstepd.scope/job_15/step_0",
	    "job:15");
	expect("/kubepods/burstable/pod" UID "/" ID "/slurm/uid_0/job_16/step_0",
	    "job:16");
	/* in a slice of the site, and seen from a cgroup namespace */
	expect(
	    "/batch.slice/gpu17_slurmstepd.scope/job_17/step_0/user/task_0", "job:17");
	expect("/../../system.slice/slurmstepd.scope/job_18/step_0", "job:18");
	/* cgroups that a job creates belong to the job */
	expect(
	    "/slurm/uid_1000/job_19/step_0/task_0/slurmstepd.scope/job_20", "job:19");
	expect("/system.slice/slurmstepd.scope/job_21/step_0/user/task_0/docker-" ID
	       ".scope",
	    "job:21");
	/* slurmstepd itself belongs to no job */
	expect("/system.slice/slurmd.service", "unit:slurmd.service");
	expect("/system.slice/gpu17_slurmstepd.scope/system",
	    "unit:gpu17_slurmstepd.scope");
	expect("/home/job_1", NULL);
}

/* The format of Slurm 26.05 and later. */
static void
jobs_of_slurm_are_named_by_their_sluid(void **state)
{
	expect("/system.slice/slurmstepd.scope/sEKNKTV3WPV500/step_0/user/task_0",
	    "job:sEKNKTV3WPV500");
	expect("/system.slice/node1_slurmstepd.scope/sFNDM35NQ39R00/step_batch",
	    "job:sFNDM35NQ39R00");
	expect("/slurm/uid_1000/sEKNKTV3WPV500/step_0/task_0", "job:sEKNKTV3WPV500");
	expect("/slurm/uid_1000/job_sEKNKTV3WPV500/step_0", "job:sEKNKTV3WPV500");
	/* not a SLUID: too short, or with a letter that SLUIDs do not contain */
	expect("/slurm/uid_1000/sEKNKTV3WPV50", NULL);
	expect("/slurm/uid_1000/sEKNKTV3WPVILO", NULL);
	expect("/slurm/uid_1000/4711/step_0", NULL);
	expect("/home/sEKNKTV3WPV500", NULL);
}

static void
everything_else_has_its_innermost_unit(void **state)
{
	expect("/system.slice/nfs-server.service", "unit:nfs-server.service");
	expect("/system.slice/system-weka.slice/weka@0.service", "unit:weka@0.service");
	expect("/user.slice/user-1000.slice/user@1000.service/app.slice/train.service",
	    "unit:train.service");
	expect("/training.slice", "unit:training.slice");
	expect("/system.slice/x.service/payload", "unit:x.service");
}

static void
a_path_without_an_owner_gives_no_name(void **state)
{
	expect("", NULL);
	expect("/", NULL);
	expect("///", NULL);
	expect("/user.slice/user-1000.slice/session-3.scope", NULL);
	expect("/init.scope", NULL);
	expect("/system.slice", NULL);
	expect("/../..", NULL);
	expect("/benchmark", NULL);
}

static void
names_that_only_look_similar_are_not_accepted(void **state)
{
	/* no kubepods folder above the pod */
	expect("/pod" UID, NULL);
	/* too short, too long, not hexadecimal */
	expect("/kubepods/pod0f2ae7bd-41c5", NULL);
	expect("/kubepods/pod" UID "0", NULL);
	expect("/kubepods/podzf2ae7bd-41c5-4f43-93a4-3e2b6f1d2c10", NULL);
	expect("/docker/4b825dc642cb", NULL);
	expect("/system.slice/docker-" ID "00.scope", "unit:docker-" ID "00.scope");
	expect("/a b.service", NULL);
}

static void
the_path_of_the_most_specific_hierarchy_is_used(void **state)
{
	static const struct {
		const char *text, *path;
	} cases[] = {
		{ "0::/system.slice/a.service\n", "/system.slice/a.service" },
		{ "0::/a\n1:name=systemd:/bbbbbbb\n", "/a" },
		{ "12:cpu,cpuacct:/\n3:memory:/kubepods/x\n1:name=systemd:/y\n0::/\n",
		    "/kubepods/x" },
		{ "2:devices:/docker/abc\n", "/docker/abc" },
		/* On cgroup v1 Slurm makes a job's cgroups only in the controllers
		 * that it uses. */
		{ "9:freezer:/slurm/uid_0/job_1/step_0\n4:memory:/slurm/uid_0/job_1\n"
		  "1:name=systemd:/system.slice/slurmd.service\n"
		  "0::/system.slice/slurmd.service\n",
		    "/slurm/uid_0/job_1/step_0" },
		{ "9:freezer:/slurm/uid_0/job_2/step_0\n"
		  "1:name=systemd:/user.slice/user-1000.slice/session-31.scope\n"
		  "0::/user.slice/user-1000.slice/session-31.scope\n",
		    "/slurm/uid_0/job_2/step_0" },
		{ "9:freezer:/a\n1:name=systemd:/system.slice/b.service\n0::/\n",
		    "/system.slice/b.service" },
		{ "0::/with:colon\n", "/with:colon" },
		{ "0::/\n", "/" },
		{ "0::/no newline", "/no newline" },
		{ "", NULL },
		{ "\n\n", NULL },
		{ "0:\n0::\nx\n::\n", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *path = NULL;
		size_t len = 0;
		bool found = cgroup_name_cgroup_path(
		    cases[i].text, strlen(cases[i].text), &path, &len);

		assert_int_equal(found, cases[i].path != NULL);
		if (!found)
			continue;
		assert_int_equal(len, strlen(cases[i].path));
		assert_memory_equal(path, cases[i].path, len);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_are_named_by_their_uid_in_every_layout),
		cmocka_unit_test(containers_without_pods_are_named_by_their_short_id),
		cmocka_unit_test(jobs_of_slurm_are_named_by_their_number),
		cmocka_unit_test(jobs_of_slurm_are_named_by_their_sluid),
		cmocka_unit_test(everything_else_has_its_innermost_unit),
		cmocka_unit_test(a_path_without_an_owner_gives_no_name),
		cmocka_unit_test(names_that_only_look_similar_are_not_accepted),
		cmocka_unit_test(the_path_of_the_most_specific_hierarchy_is_used),
	};

	return cmocka_run_group_tests_name("pod_name", tests, NULL, NULL);
}

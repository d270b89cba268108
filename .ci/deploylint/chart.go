package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

// variants are values with which the chart is rendered: each branch of a template is in one.
var variants = map[string]string{
	"defaults": ``,
	"everything": `
image: {tag: v1, pullSecrets: [{name: registry}]}
database: {directUrl: "postgres://rote@db/rote", caConfigMap: authority}
trustedProxies: [10.0.0.0/8]
allowHosts: [shop.example]
denyHosts: [other.example]
serve: {extraArgs: ["--toolsets=run,authoring"]}
worker: {replicas: 3, extraArgs: ["--queue-time=10m"]}
podSecurityContext: {supplementalGroups: [7]}
nodeSelector: {kubernetes.io/os: linux}
tolerations: [{key: a, operator: Exists}]
podAnnotations: {a: b}
networkPolicy:
  ingressFrom: [{podSelector: {matchLabels: {app: proxy}}}]
  metricsFrom: [{podSelector: {matchLabels: {app: prometheus}}}]
  databaseTo: [{ipBlock: {cidr: 10.1.2.3/32}}]
ingress: {enabled: true, tlsSecret: tls, annotations: {c: d}}
`,
	"few": `
networkPolicy: {enabled: false}
worker: {replicas: 1}
`,
}

// checkChart renders a chart with each of the variants and checks all objects.
func checkChart(dir string) error {
	chart, err := loader.LoadDir(dir)
	if err != nil {
		return err
	}
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(variants)) {
		values, err := chartutil.ReadValues([]byte(variants[name]))
		if err != nil {
			return err
		}
		all, err := chartutil.ToRenderValues(chart, values, chartutil.ReleaseOptions{Name: "demo", Namespace: "tools", IsInstall: true}, nil)
		if err != nil {
			return err
		}
		files, err := engine.Engine{Strict: true}.Render(chart, all)
		if err != nil {
			return err
		}
		objects := 0
		for file, text := range files {
			for document := range strings.SplitSeq(text, "\n---") {
				if strings.HasSuffix(file, ".tpl") || strings.TrimSpace(document) == "" {
					continue
				}
				objects++
				if err := checkObject(document); err != nil {
					faults = append(faults, fmt.Errorf("%s with %s: %w", file, name, err))
				}
			}
		}
		if objects < 4 {
			faults = append(faults, fmt.Errorf("%s: only %d objects", name, objects))
		}
	}
	return errors.Join(faults...)
}

// checkObject decodes an object strictly, and checks it.
func checkObject(document string) error {
	var kind struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal([]byte(document), &kind); err != nil {
		return err
	}
	decode := func(into any) error { return yaml.UnmarshalStrict([]byte(document), into) }
	switch kind.APIVersion + " " + kind.Kind {
	case "apps/v1 Deployment":
		var d apps.Deployment
		if err := decode(&d); err != nil {
			return err
		}
		for key, value := range d.Spec.Selector.MatchLabels {
			if d.Spec.Template.Labels[key] != value {
				return fmt.Errorf("the selector %s=%s matches no pod", key, value)
			}
		}
		return errors.Join(checkPod(d.Spec.Template.Spec), checkProbes(d.Spec.Template.Spec))
	case "batch/v1 Job":
		var j batch.Job
		if err := decode(&j); err != nil {
			return err
		}
		return checkPod(j.Spec.Template.Spec)
	case "v1 Service":
		return decode(&core.Service{})
	case "policy/v1 PodDisruptionBudget":
		return decode(&policy.PodDisruptionBudget{})
	case "networking.k8s.io/v1 NetworkPolicy":
		return decode(&networking.NetworkPolicy{})
	case "networking.k8s.io/v1 Ingress":
		return decode(&networking.Ingress{})
	}
	return fmt.Errorf("%s %s is not expected", kind.APIVersion, kind.Kind)
}

// checkPod checks that a pod has no rights that it does not need, and bounded memory.
func checkPod(p core.PodSpec) error {
	var faults []error
	require := func(ok bool, what string) {
		if !ok {
			faults = append(faults, errors.New(what))
		}
	}
	isTrue := func(b *bool) bool { return b != nil && *b }
	isFalse := func(b *bool) bool { return b != nil && !*b }
	s := p.SecurityContext
	require(s != nil && isTrue(s.RunAsNonRoot) && s.RunAsUser != nil && *s.RunAsUser == 10001 && s.SeccompProfile != nil, "the pod is not confined")
	require(isFalse(p.AutomountServiceAccountToken), "the pod gets a token of the cluster")
	require(!p.HostNetwork && !p.HostPID && !p.HostIPC, "the pod shares namespaces with its node")
	volumes := map[string]bool{}
	for _, v := range p.Volumes {
		volumes[v.Name] = true
		require(v.HostPath == nil && (v.EmptyDir == nil || v.EmptyDir.SizeLimit != nil), "volume "+v.Name+" has no limit, or is of the node")
	}
	for _, c := range p.Containers {
		cs := c.SecurityContext
		require(cs != nil && isFalse(cs.AllowPrivilegeEscalation) && isTrue(cs.ReadOnlyRootFilesystem) && cs.Capabilities != nil &&
			slices.Equal(cs.Capabilities.Drop, []core.Capability{"ALL"}), "container "+c.Name+" is not confined")
		require(!c.Resources.Limits.Memory().IsZero(), "container "+c.Name+" has no limit of memory")
		mounted := map[string]bool{}
		for _, m := range c.VolumeMounts {
			require(volumes[m.Name], "volume "+m.Name+" is mounted, but is none")
			mounted[m.MountPath] = true
		}
		for _, path := range []string{"/tmp", "/dev/shm", "/var/lib/rote"} {
			require(mounted[path], path+" cannot be written")
		}
	}
	return errors.Join(faults...)
}

// checkProbes checks the probes of a server, and that it has the time to drain.
func checkProbes(p core.PodSpec) error {
	c := p.Containers[0]
	for name, probe := range map[string]*core.Probe{"startup": c.StartupProbe, "readiness": c.ReadinessProbe, "liveness": c.LivenessProbe} {
		if probe == nil || probe.HTTPGet == nil {
			return fmt.Errorf("no %s probe", name)
		}
		if !slices.ContainsFunc(c.Ports, func(p core.ContainerPort) bool { return p.Name == probe.HTTPGet.Port.StrVal }) {
			return fmt.Errorf("the %s probe uses the port %s, which there is not", name, probe.HTTPGet.Port.StrVal)
		}
	}
	var drain int64
	for _, arg := range c.Args {
		if _, err := fmt.Sscanf(arg, "--drain-time=%ds", &drain); err == nil {
			break
		}
	}
	if p.TerminationGracePeriodSeconds == nil || drain == 0 || *p.TerminationGracePeriodSeconds < drain+10 {
		return fmt.Errorf("the pod is killed before it has drained for %d s", drain)
	}
	return nil
}

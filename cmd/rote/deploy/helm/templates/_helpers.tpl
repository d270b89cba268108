{{- define "rote.labels" -}}
app.kubernetes.io/name: rote
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "rote.selector" -}}
app.kubernetes.io/name: rote
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "rote.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "rote.env" -}}
- name: ROTE_DB
  value: {{ .Values.database.url | quote }}
{{- with .Values.database.directUrl }}
- name: ROTE_DB_DIRECT
  value: {{ . | quote }}
{{- end }}
- name: ROTE_DB_CONNECTIONS
  value: {{ .Values.database.connections | quote }}
- name: PGPASSWORD
  valueFrom: {secretKeyRef: {name: {{ .Values.existingSecret }}, key: password}}
- name: ROTE_STATE_KEY
  valueFrom: {secretKeyRef: {name: {{ .Values.existingSecret }}, key: state-key}}
{{- if .Values.database.caConfigMap }}
- name: PGSSLROOTCERT
  value: /etc/rote/ca/ca.crt
{{- end }}
{{- end }}

{{- define "rote.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: {{ toYaml .Values.seccompProfile | nindent 2 }}
{{- with .Values.podSecurityContext }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "rote.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "rote.mounts" -}}
- {name: tmp, mountPath: /tmp}
- {name: shm, mountPath: /dev/shm}
- {name: state, mountPath: /var/lib/rote}
{{- if .Values.database.caConfigMap }}
- {name: ca, mountPath: /etc/rote/ca, readOnly: true}
{{- end }}
{{- end }}

{{- define "rote.volumes" -}}
- name: tmp
  emptyDir: {medium: Memory, sizeLimit: {{ .Values.tmpSize }}}
- name: shm
  emptyDir: {medium: Memory, sizeLimit: {{ .Values.shmSize }}}
- name: state
  emptyDir: {sizeLimit: 16Mi}
{{- with .Values.database.caConfigMap }}
- name: ca
  configMap: {name: {{ . }}}
{{- end }}
{{- end }}

{{- define "rote.runArgs" -}}
- --migrate=off
- --egress={{ .Values.egress }}
{{- range .Values.allowHosts }}
- --allow-host={{ . }}
{{- end }}
{{- range .Values.denyHosts }}
- --deny-host={{ . }}
{{- end }}
- --drain-time={{ .Values.drainSeconds }}s
{{- end }}

{{- define "rote.placement" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{ include "rote.selector" .root | nindent 8 }}
        app.kubernetes.io/component: {{ .component }}
{{- with .root.Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

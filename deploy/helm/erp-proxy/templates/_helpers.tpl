{{- /* A name that is valid for every kind of object: at most 63 letters, digits and hyphens, beginning with a letter. */}}
{{- define "erp-proxy.name" -}}
{{ regexReplaceAll "-+$" (regexReplaceAll "^[^a-z]" (regexReplaceAll "[^a-z0-9-]" (lower (default .Release.Name .Values.fullnameOverride)) "-") "erp-proxy-${0}" | trunc 63) "" }}
{{- end }}

{{- define "erp-proxy.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "erp-proxy.labels" -}}
{{ include "erp-proxy.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "erp-proxy.metadata" -}}
name: {{ include "erp-proxy.name" . | quote }}
labels:
  {{- include "erp-proxy.labels" . | nindent 2 }}
{{- end }}

{{- define "erp-proxy.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- define "erp-proxy.serviceAccountName" -}}
{{- with .Values.serviceAccount -}}
{{- if .create -}}
{{ .name | default (include "erp-proxy.name" $) }}
{{- else -}}
{{ .name }}
{{- end -}}
{{- end -}}
{{- end }}

{{- /* "true" if a HorizontalPodAutoscaler sets the number of pods. */}}
{{- define "erp-proxy.autoscales" -}}
{{- with .Values.autoscaling }}{{ if .enabled }}true{{ end }}{{ end -}}
{{- end }}

{{- /* Fails if values contradict each other. */}}
{{- define "erp-proxy.check" -}}
{{- if le (mul (int .Values.terminationGracePeriodSeconds) 1000) (add (mul (int .Values.drainSeconds) 1000) (int (dig "http" "shutdownGraceMs" 10000 (.Values.settings | default dict)))) }}
{{- fail "terminationGracePeriodSeconds must be more than drainSeconds and settings.http.shutdownGraceMs (10000 by default) together." }}
{{- end }}
{{- with .Values.autoscaling }}
{{- if .enabled }}
{{- if gt (int .minReplicas) (int .maxReplicas) }}
{{- fail "autoscaling.minReplicas must not be more than autoscaling.maxReplicas." }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

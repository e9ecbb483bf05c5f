// Package provider chooses models and embedders by configuration. It owns the providers' names, default models and
// temperatures, and the fallback to a second provider. It is the only package that imports all of them; the offline
// model is passed in, because it needs a domain. It must not read the environment. Start reading at provider.go.
package provider

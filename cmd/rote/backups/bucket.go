package backups

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const s3Scheme = "s3://"

// defaultEndpoint is the store that is used without an address in the environment.
const defaultEndpoint = "https://s3.amazonaws.com"

// bucket is a target in an S3-compatible store.
type bucket struct {
	client *minio.Client
	bucket string
	prefix string // empty, or with a slash at its end
}

// newBucket returns the target of an address as s3://BUCKET/PREFIX. The store and the
// credentials are those of the variables that the tools of AWS use: AWS_ENDPOINT_URL_S3 or
// AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN;
// without keys there, the credentials file of AWS and then the role of the machine.
func newBucket(address string) (*bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.User != nil {
		return nil, errors.New("a place in a store is s3://BUCKET or s3://BUCKET/PREFIX; its address and the keys are in the environment: " +
			"AWS_ENDPOINT_URL_S3, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY")
	}
	endpoint, err := url.Parse(cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), defaultEndpoint))
	if err != nil || endpoint.Host == "" || endpoint.Scheme != "https" && endpoint.Scheme != "http" {
		return nil, errors.New("AWS_ENDPOINT_URL_S3 is not an address as in https://minio.example:9000")
	}
	client, err := minio.New(endpoint.Host, &minio.Options{Secure: endpoint.Scheme == "https", Region: os.Getenv("AWS_REGION"),
		Creds: credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{}})})
	if err != nil {
		return nil, err
	}
	b := &bucket{client: client, bucket: u.Host}
	if prefix := strings.Trim(path.Clean(u.Path), "/."); prefix != "" {
		b.prefix = prefix + "/"
	}
	return b, nil
}

func (b *bucket) String() string  { return s3Scheme + b.bucket + "/" + b.prefix }
func (b *bucket) scratch() string { return "" }

func (b *bucket) list(ctx context.Context) ([]string, error) {
	var names []string
	for o := range b.client.ListObjects(ctx, b.bucket, minio.ListObjectsOptions{Prefix: b.prefix}) {
		if o.Err != nil {
			return nil, o.Err
		}
		names = append(names, strings.TrimPrefix(o.Key, b.prefix))
	}
	return names, nil
}

func (b *bucket) put(ctx context.Context, path, name string) error {
	_, err := b.client.FPutObject(ctx, b.bucket, b.prefix+name, path, minio.PutObjectOptions{ContentType: "application/gzip"})
	return err
}

func (b *bucket) get(ctx context.Context, name, path string) error {
	err := b.client.FGetObject(ctx, b.bucket, b.prefix+name, path, minio.GetObjectOptions{})
	if answer := minio.ToErrorResponse(err); answer.StatusCode == http.StatusNotFound {
		return fmt.Errorf("%s: %w", answer.Message, fs.ErrNotExist)
	}
	return err
}

func (b *bucket) remove(ctx context.Context, name string) error {
	return b.client.RemoveObject(ctx, b.bucket, b.prefix+name, minio.RemoveObjectOptions{})
}

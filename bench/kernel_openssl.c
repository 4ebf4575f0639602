/*
** The native measure of the kernel benchmark: OpenSSL's ChaCha20-Poly1305 on pages of the same size. Reads
** lines "size decrypt" and answers each with the nanoseconds that one pass over the buffer took, or -1.
*/
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <openssl/evp.h>

static uint8_t pages[1 << 18];
static uint8_t tags[(1 << 18) / 512][16];
static const uint8_t key[32] = "bench bench bench bench bench .";
static const uint8_t nonce[12];

static int one_page(EVP_CIPHER_CTX *ctx, uint8_t *page, int size, uint8_t *tag, int decrypt) {
    int n, ok;
    ok = EVP_CipherInit_ex(ctx, NULL, NULL, key, nonce, !decrypt);
    if (decrypt) ok &= EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 16, tag);
    ok &= EVP_CipherUpdate(ctx, page, &n, page, size - 32);
    ok &= EVP_CipherFinal_ex(ctx, page, &n);
    if (!decrypt) ok &= EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, tag);
    return ok;
}

int main(void) {
    int size, decrypt;
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    if (ctx == NULL || !EVP_CipherInit_ex(ctx, EVP_chacha20_poly1305(), NULL, NULL, NULL, 1)) return 1;
    while (scanf("%d %d", &size, &decrypt) == 2 && size >= 512 && size <= (int)sizeof pages) {
        struct timespec a, b;
        int ok = 1;
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (int i = 0; i < (int)sizeof pages / size; i++)
            ok &= one_page(ctx, pages + i * size, size, tags[i], decrypt);
        clock_gettime(CLOCK_MONOTONIC, &b);
        double ns = (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
        printf("%.0f\n", ok ? ns : -1);
        fflush(stdout);
    }
    EVP_CIPHER_CTX_free(ctx);
    return 0;
}
